"""Rankings against arithmetic done by hand, and against their definitions done naively."""

from __future__ import annotations

import math
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askem.models import RANKINGS, Screened
from askem.retrieval.ranking import rank, term_proximity

LN2 = math.log(2)


def screened(
    passages: list[list[int | None]], idf: list[float], bm25: list[float] | None = None
) -> Screened:
    """Passages as the question's terms at their positions; None is any other token."""
    places = [
        (row, position, term)
        for row, passage in enumerate(passages)
        for position, term in enumerate(passage)
        if term is not None
    ]
    columns = np.array(places, dtype=np.int32).reshape(-1, 3)
    return Screened(
        passage_ids=[f"p{row}" for row in range(len(passages))],
        lengths=np.array([len(passage) for passage in passages], dtype=np.int64),
        norms=np.ones(len(passages)),
        bm25=np.array(bm25 if bm25 is not None else [0.0] * len(passages), dtype=np.float64),
        idf=np.array(idf, dtype=np.float64),
        document_frequency=np.ones(len(idf), dtype=np.int64),
        hit_rows=columns[:, 0],
        hit_positions=columns[:, 1],
        hit_terms=columns[:, 2],
    )


def scores(ranking: str, found: Screened, distances: list[float]) -> list[float]:
    rows = np.arange(len(found.passage_ids))
    return rank(ranking, found, rows, np.array(distances)).tolist()  # type: ignore[arg-type]


# K and P by hand


def test_a_single_occurrence_is_its_idf() -> None:
    clusters, pairs = term_proximity(screened([[None, 0, None]], [2.0, 3.0]))
    assert clusters.tolist() == [2.0]
    assert pairs.tolist() == [0.0]


def test_neighbours_in_the_questions_order() -> None:
    # Terms 0 1 side by side. From the 0: 2 + 3 e^(-1/5); from the 1: 3 + 2 e^(-1/5), the larger.
    # P: (2 + 3) / (2 * 1).
    clusters, pairs = term_proximity(screened([[0, 1]], [2.0, 3.0]))
    assert clusters[0] == pytest.approx(3 + 2 * math.exp(-0.2))
    assert pairs[0] == pytest.approx(2.5)


def test_the_other_order_counts_as_twice_as_far() -> None:
    _, pairs = term_proximity(screened([[1, 0], [1, None, None, 0]], [2.0, 3.0]))
    assert pairs.tolist() == pytest.approx([2.5 / 2, 2.5 / 6])


def test_the_nearer_of_both_orders_counts() -> None:
    # 1 . . . 0 . 1: backward 4 * 2 = 8, forward 2.
    _, pairs = term_proximity(screened([[1, None, None, None, 0, None, 1]], [2.0, 3.0]))
    assert pairs[0] == pytest.approx(2.5 / 2)
    # 1 0 . . . 1: backward 1 * 2 = 2, forward 4.
    _, pairs = term_proximity(screened([[1, 0, None, None, None, 1]], [2.0, 3.0]))
    assert pairs[0] == pytest.approx(2.5 / 2)


def test_only_adjacent_question_terms_are_pairs() -> None:
    # 0 and 2 stand together, but 1 lies between them in the question.
    _, pairs = term_proximity(screened([[0, 2]], [2.0, 3.0, 4.0]))
    assert pairs.tolist() == [0.0]
    # 0 2 1: the pair (0, 1) at 2: (2 + 3) / 4; the pair (1, 2) backward at 1: (3 + 4) / 4.
    _, pairs = term_proximity(screened([[0, 2, 1]], [2.0, 3.0, 4.0]))
    assert pairs[0] == pytest.approx(5 / 4 + 7 / 4)


def test_the_best_cluster_counts_once() -> None:
    # A lone 1 far from the cluster 0 1: the cluster is what counts.
    passage = [1, *[None] * 50, 0, None, 1]
    clusters, pairs = term_proximity(screened([passage], [2.0, 3.0]))
    assert clusters[0] == pytest.approx(3 + 2 * math.exp(-2 / 5))
    assert pairs[0] == pytest.approx(5 / 4)


def test_passages_do_not_reach_into_each_other() -> None:
    clusters, pairs = term_proximity(screened([[None, 0], [1, None], [], [0, 1]], [2.0, 3.0]))
    assert clusters.tolist() == pytest.approx([2.0, 3.0, 0.0, 3 + 2 * math.exp(-0.2)])
    assert pairs.tolist() == pytest.approx([0.0, 0.0, 0.0, 2.5])


def test_nothing_screened_has_no_scores() -> None:
    empty = screened([], [2.0])
    assert [array.shape for array in term_proximity(empty)] == [(0,), (0,)]
    for ranking in RANKINGS:
        assert scores(ranking, empty, []) == []


# K and P by definition


def naive_cluster(passage: list[int | None], idf: list[float]) -> float:
    """max over occurrences i of sum over terms t of idf(t) exp(-|i - nearest t| / 5)."""
    best = 0.0
    for i, here in enumerate(passage):
        if here is None:
            continue
        mass = 0.0
        for term, weight in enumerate(idf):
            gaps = [abs(i - j) for j, there in enumerate(passage) if there == term]
            if gaps:
                mass += weight * math.exp(-min(gaps) / 5)
        best = max(best, mass)
    return best


def naive_pairs(passage: list[int | None], idf: list[float]) -> float:
    """sum over adjacent terms (a, b) of (idf(a) + idf(b)) / (2 delta)."""
    total = 0.0
    for a in range(len(idf) - 1):
        deltas = [
            j - i if j > i else 2 * (i - j)
            for i, first in enumerate(passage)
            for j, second in enumerate(passage)
            if (first, second) == (a, a + 1)
        ]
        if deltas:
            total += (idf[a] + idf[a + 1]) / (2 * min(deltas))
    return total


@st.composite
def question_and_passages(
    draw: st.DrawFn,
) -> tuple[list[float], list[list[int | None]]]:
    idf = draw(st.lists(st.floats(0.01, 12.0), min_size=1, max_size=6))
    token = st.none() | st.integers(0, len(idf) - 1)
    gap = st.integers(0, 99).map(lambda n: [None] * n)
    part = st.lists(token, max_size=8)
    passage = st.lists(gap | part, max_size=4).map(lambda parts: list(chain(*parts)))
    return idf, draw(st.lists(passage, max_size=6))


@settings(max_examples=60, deadline=None)
@given(question_and_passages())
def test_k_and_p_are_what_their_definitions_say(
    drawn: tuple[list[float], list[list[int | None]]],
) -> None:
    idf, passages = drawn
    clusters, pairs = term_proximity(screened(passages, idf))
    assert clusters == pytest.approx([naive_cluster(p, idf) for p in passages], abs=1e-9)
    assert pairs == pytest.approx([naive_pairs(p, idf) for p in passages], abs=1e-9)


def test_k_and_p_of_many_long_passages_are_what_their_definitions_say() -> None:
    random = np.random.default_rng(7)
    idf = [0.5, 2.0, 7.0, 3.0]
    passages: list[list[int | None]] = [
        [int(t) if t < len(idf) else None for t in random.integers(0, 40, int(n))]
        for n in random.integers(1, 400, 60)
    ]
    clusters, pairs = term_proximity(screened(passages, idf))
    assert clusters == pytest.approx([naive_cluster(p, idf) for p in passages], abs=1e-9)
    assert pairs == pytest.approx([naive_pairs(p, idf) for p in passages], abs=1e-9)


# The rankings


def test_proximity_is_b_and_k_and_half_p_over_t_and_the_weighted_cosine() -> None:
    # Row 0: B 4, K 3 + 2 e^-.2, P 2.5; row 1: B 1, K 2, P 0. T = 2 + 3 + 1 (the last unknown).
    found = screened([[0, 1], [0]], [2.0, 3.0, 1.0], bm25=[4.0, 1.0])
    first = (4 + 3 + 2 * math.exp(-0.2) + 0.5 * 2.5) / 6 + 1.1 * 0.7
    second = (1 + 2) / 6 + 1.1 * 0.1
    assert scores("proximity", found, [0.3, 0.9]) == pytest.approx([first, second])


def test_proximity_follows_the_rows_asked_for() -> None:
    found = screened([[0, 1], [0], [1]], [2.0, 3.0], bm25=[4.0, 1.0, 2.0])
    every = scores("proximity", found, [0.5, 0.5, 0.5])
    some = rank("proximity", found, np.array([2, 0]), np.array([0.5, 0.5]))
    assert some.tolist() == [every[2], every[0]]


def test_blend_is_three_parts_bm25_and_one_part_similarity() -> None:
    # BM25 8, 4, 0 becomes 1, .5, 0; distances .2, .6, .4 become 1, 0, .5.
    found = screened([[0], [0], [0]], [LN2], bm25=[8.0, 4.0, 0.0])
    assert scores("blend", found, [0.2, 0.6, 0.4]) == pytest.approx([1.0, 0.375, 0.125])


def test_blend_of_equal_values_is_even() -> None:
    found = screened([[0], [0]], [LN2], bm25=[3.0, 3.0])
    assert scores("blend", found, [0.4, 0.4]) == [0.0, 0.0]
    assert scores("blend", found, [0.4, 0.2]) == [0.0, 0.25]


def test_rrf_adds_reciprocal_ranks() -> None:
    # Sparse ranks 1, 2, 3; by distance 3, 1, 2.
    found = screened([[0], [0], [0]], [LN2], bm25=[3.0, 2.0, 1.0])
    wanted = [1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 63 + 1 / 62]
    assert scores("rrf", found, [0.9, 0.1, 0.5]) == pytest.approx(wanted)


def test_rrf_keeps_the_sparse_ranks_of_passages_that_are_left() -> None:
    found = screened([[0], [0], [0]], [LN2], bm25=[3.0, 2.0, 1.0])
    left = rank("rrf", found, np.array([2, 1]), np.array([0.1, 0.5]))
    assert left.tolist() == pytest.approx([1 / 63 + 1 / 61, 1 / 62 + 1 / 62])


def test_distance_is_one_minus_the_distance() -> None:
    found = screened([[0], [0]], [LN2], bm25=[9.0, 1.0])
    assert scores("distance", found, [1.5, 0.25]) == [-0.5, 0.75]
