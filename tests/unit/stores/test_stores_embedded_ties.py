"""Distances that differ by rounding alone are ties, and ties are broken by id."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from askem.models import Filters
from askem.ports import EncodedSource
from askem.stores.embedded import EmbeddedStore
from askem.testing.contract import make_source
from askem.testing.fakes import FakeEncoder

STEP = 1.2e-7
"""float32's spacing just below 1, twice: what summing in another order may change."""


def scaled(name: str, by: float, encoder: FakeEncoder) -> EncodedSource:
    source = make_source(name, ["infection model"], encoder)
    vectors = tuple(np.asarray(array * by, dtype=np.float32) for array in source.vectors)
    return replace(source, vectors=vectors)


@pytest.mark.parametrize("filters", [Filters(), Filters(topic="covid-19")])
def test_rounding_does_not_decide_who_is_first(
    store: EmbeddedStore, encoder: FakeEncoder, filters: Filters
) -> None:
    """The earlier the id, the further away by a rounding."""
    names = [f"{n:02}" for n in range(40)]
    sources = [
        scaled(name, 1.0 - STEP * (2 - n * 3 // 40), encoder) for n, name in enumerate(names)
    ]
    store.writer.replace(sources)
    ids = [f"{name}#p0" for name in names]
    vector = encoder.encode_question("infection model")
    for top_k in (1, 5, 40):
        found = store.dense.search(vector, top_k, filters)
        assert found.passage_ids == ids[:top_k]
        assert found.distances.tolist() == sorted(found.distances)
        assert store.dense.search(vector, top_k, filters, ids).passage_ids == ids[:top_k]


def test_what_is_further_by_more_than_rounding_is_no_tie(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    store.writer.replace([scaled("a", 1 - 1e-5, encoder), scaled("b", 1.0, encoder)])
    found = store.dense.search(encoder.encode_question("infection model"), 2, Filters())
    assert found.passage_ids == ["b#p0", "a#p0"]
