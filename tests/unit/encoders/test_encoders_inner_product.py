"""The reduction of inner products to cosines keeps their order; bounds hold."""

from __future__ import annotations

import numpy as np
import pytest

from askem.encoders.inner_product import (
    augmented_passages,
    augmented_question,
    layer_norm_bound,
    projected_bound,
)
from askem.retrieval.steering import move_away_from, move_to


def test_a_case_by_hand() -> None:
    # M = 10: (6, 0) is 0.6 long and lacks 0.8; (0, 10) lacks nothing.
    found = augmented_passages(np.array([[6.0, 0.0], [0.0, 10.0]]), 10.0)
    np.testing.assert_allclose(found, [[0.6, 0.0, 0.8], [0.0, 1.0, 0.0]], atol=1e-7)
    np.testing.assert_allclose(augmented_question(np.array([3.0, 4.0])), [0.6, 0.8, 0.0])


def test_the_order_is_the_inner_products_where_the_cosines_differs() -> None:
    generator = np.random.default_rng(1)
    passages = generator.standard_normal((500, 12)) * generator.uniform(0.2, 3, (500, 1))
    question = generator.standard_normal(12)
    bound = float(np.linalg.norm(passages, axis=1).max())
    products = passages @ question
    cosines = augmented_passages(passages, bound) @ augmented_question(question)
    assert np.argsort(-cosines).tolist() == np.argsort(-products).tolist()
    np.testing.assert_allclose(cosines * np.linalg.norm(question) * bound, products, atol=1e-4)
    plain = products / np.linalg.norm(passages, axis=1)
    assert np.argsort(-plain).tolist() != np.argsort(-products).tolist()


def test_steering_is_the_same_arithmetic() -> None:
    """Moved in d dimensions and then augmented, or augmented and then moved: one result."""
    generator = np.random.default_rng(2)
    q, t, a = (v / np.linalg.norm(v) for v in generator.standard_normal((3, 12)))
    before = augmented_question(move_away_from(move_to(q, t, 0.7), a, 0.4))
    q, t, a = (augmented_question(vector) for vector in (q, t, a))
    after = move_away_from(move_to(q, t, 0.7), a, 0.4)
    np.testing.assert_allclose(after / np.linalg.norm(after), before, atol=1e-6)


def test_a_passage_longer_than_the_bound_is_an_error() -> None:
    with pytest.raises(ValueError, match="5 > 4"):
        augmented_passages(np.array([[3.0, 4.0]]), 4.0)


def test_nothing_and_zeros() -> None:
    assert augmented_passages(np.empty((0, 3)), 1.0).shape == (0, 4)
    assert augmented_passages(np.zeros((1, 2)), 1.0).tolist() == [[0.0, 0.0, 1.0]]
    assert augmented_question(np.zeros(2)).tolist() == [0.0, 0.0, 0.0]


def layer_norm(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    centred = x - x.mean()
    return weight * centred / np.sqrt(centred.var() + 1e-12) + bias


def test_no_output_of_a_layer_norm_is_longer_than_its_bound() -> None:
    generator = np.random.default_rng(3)
    weight, bias = generator.standard_normal(16), generator.standard_normal(16) / 4
    weight[5] = 6.0  # one large weight, and an input that leans on it
    bias[5] = 2.0
    bound = layer_norm_bound(weight, bias)
    inputs = [*generator.standard_normal((200, 16)), np.eye(16)[5], 1e6 * np.eye(16)[5]]
    longest = max(np.linalg.norm(layer_norm(x, weight, bias)) for x in inputs)
    assert 0.9 * bound < longest <= bound


def test_the_bound_of_a_projection() -> None:
    weight, bias = np.array([[3.0, 0.0], [0.0, 1.0]]), np.array([0.0, 2.0])
    assert projected_bound(5.0, weight, bias) == pytest.approx(17.0)
