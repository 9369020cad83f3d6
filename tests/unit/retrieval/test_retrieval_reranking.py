"""A reranker's order, over fakes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from askem.errors import InvalidInput
from askem.models import Passage, Question
from askem.retrieval import Retriever
from askem.retrieval.reranking import Reranking
from askem.testing.fakes import FakeEncoder, FakeReranker, FakeStore, Hook

TEXTS = [
    "Infection stages, infection stages, and many other words beside them in a long passage.",
    "Infection, in a passage of four stages or more.",
    "Infection stages.",
    "Stages of vineyards, of soils and of volcanoes.",
]
QUESTION = "infection stages"


def retriever(
    hook: Hook = lambda _: None, *, batch: int = 2, clock: Callable[[], float] | None = None
) -> Retriever:
    passages = [Passage(f"a#p{i}", "a", "paragraph", "v1", i, text) for i, text in enumerate(TEXTS)]
    store = FakeStore(passages, FakeEncoder(), hook=hook)
    reranker = FakeReranker(batch=batch, hook=hook)
    reranking = Reranking(reranker, 1_000, clock) if clock else Reranking(reranker, 1_000)
    return Retriever(
        encoder=FakeEncoder(), sparse=store, dense=store, reader=store, reranking=reranking
    )


def shares() -> dict[str, float]:
    """What the fake makes of each passage."""
    passages = [Passage(f"a#p{i}", "a", "paragraph", "v1", i, t) for i, t in enumerate(TEXTS)]
    scores = FakeReranker().rerank(QUESTION, passages)
    return {p.passage_id: float(s) for p, s in zip(passages, scores, strict=True)}


def ids(question: Question, **given: object) -> list[str]:
    return [hit.passage.passage_id for hit in retriever(**given).hybrid(question).hits]  # type: ignore[arg-type]


def test_the_reranker_decides_the_order_and_the_ranking_keeps_the_score() -> None:
    plain = retriever().hybrid(Question(QUESTION))
    result = retriever().hybrid(Question(QUESTION, rerank_top_k=10))
    expected = shares()
    assert [hit.passage.passage_id for hit in result.hits] == sorted(
        expected, key=lambda name: -expected[name]
    )
    assert result.hits != plain.hits
    assert {hit.passage.passage_id: hit.rerank_score for hit in result.hits} == expected
    scores = {hit.passage.passage_id: hit.score for hit in plain.hits}
    assert {hit.passage.passage_id: hit.score for hit in result.hits} == scores
    assert (plain.reranked, result.reranked) == (0, 4)
    assert all(hit.rerank_score is None for hit in plain.hits)
    assert "rerank" in result.timings_ms
    assert "rerank" not in plain.timings_ms


def test_only_the_best_are_read_and_the_others_follow_as_they_were() -> None:
    plain = ids(Question(QUESTION))
    result = retriever().hybrid(Question(QUESTION, rerank_top_k=2))
    found = [hit.passage.passage_id for hit in result.hits]
    assert sorted(found[:2]) == sorted(plain[:2])
    assert found[2:] == plain[2:]
    assert [hit.rerank_score is None for hit in result.hits] == [False, False, True, True]
    assert result.reranked == 2


def test_a_passage_beyond_top_k_may_come_up() -> None:
    best = ids(Question(QUESTION, rerank_top_k=10))[0]
    result = retriever().hybrid(Question(QUESTION, top_k=1, rerank_top_k=10))
    assert [hit.passage.passage_id for hit in result.hits] == [best]
    assert result.reranked == 4


def test_what_there_was_no_time_for_keeps_its_place() -> None:
    seconds = iter([0.0, 0.5, 2.0, 9.0])
    called: list[str] = []
    slow = retriever(called.append, batch=1, clock=lambda: next(seconds))
    result = slow.hybrid(Question(QUESTION, rerank_top_k=10))
    plain = ids(Question(QUESTION))
    # Begun at 0, a second batch at .5, and at 2 the second is over.
    assert result.reranked == called.count("rerank") == 2
    assert sorted(hit.passage.passage_id for hit in result.hits[:2]) == sorted(plain[:2])
    assert [hit.passage.passage_id for hit in result.hits[2:]] == plain[2:]


def test_the_first_batch_is_read_however_slow() -> None:
    seconds = iter([0.0, 9.0])
    late = retriever(batch=3, clock=lambda: next(seconds))
    assert late.hybrid(Question(QUESTION, rerank_top_k=10)).reranked == 3


def test_the_cut_of_distance_comes_first() -> None:
    every = retriever().hybrid(Question(QUESTION)).hits
    limit = sorted(hit.distance or 0 for hit in every)[1]
    result = retriever().hybrid(Question(QUESTION, rerank_top_k=10, max_distance=limit))
    assert result.reranked == len(result.hits) == 2


def test_the_reranker_reads_the_repaired_question() -> None:
    misspelt = Question("infectoin stages", rerank_top_k=10, repair=True)
    assert ids(misspelt) == ids(Question(QUESTION, rerank_top_k=10))


def test_nothing_found_is_nothing_to_read() -> None:
    called: list[str] = []
    result = retriever(called.append).hybrid(Question("zyxel", rerank_top_k=10))
    assert (result.hits, result.reranked) == ([], 0)
    assert "rerank" not in called


def test_without_a_reranker_the_wish_is_refused() -> None:
    store = FakeStore([], FakeEncoder())
    bare = Retriever(encoder=FakeEncoder(), sparse=store, dense=store, reader=store)
    with pytest.raises(InvalidInput, match="no reranker"):
        bare.hybrid(Question(QUESTION, rerank_top_k=1))
    assert bare.hybrid(Question(QUESTION)).hits == []
