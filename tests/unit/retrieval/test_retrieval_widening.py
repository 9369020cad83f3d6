"""The nearest passages are ranked beside the screened ones."""

from __future__ import annotations

import pytest

from askem.errors import BackendUnavailable
from askem.models import RANKINGS, Filters, Passage, Question, Ranking, Steering
from askem.retrieval import Retriever
from askem.testing.fakes import FakeEncoder, FakeStore, Hook

TEXTS = {
    "near#p0": "Volcano tremor preceded the eruption.",
    "said#p0": "The infection model has eight stages.",
    "said#p1": "Stages of an infection in soil.",
    "far#p0": "Biochar in a vineyard.",
}
SCREENED = {"said#p0", "said#p1"}
QUESTION = "infection stages"
TOWARDS = Steering(move_to="volcano tremor eruption", move_to_weight=1.0)
"""Brings a passage near that has no word of the question."""


def store(hook: Hook = lambda _: None) -> FakeStore:
    passages = [
        Passage(name, name.partition("#")[0], "paragraph", "v1", 0, text)
        for name, text in TEXTS.items()
    ]
    return FakeStore(passages, FakeEncoder(), hook=hook)


def retriever(hook: Hook = lambda _: None) -> Retriever:
    held = store(hook)
    return Retriever(encoder=FakeEncoder(), sparse=held, dense=held, reader=held)


def asked(nearest_top_k: int, **given: object) -> Question:
    given = {"text": QUESTION, "top_k": 9, "steering": TOWARDS, **given}
    return Question(nearest_top_k=nearest_top_k, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("ranking", RANKINGS)
def test_a_passage_without_a_word_of_the_question_is_found(ranking: Ranking) -> None:
    without = retriever().hybrid(asked(0, ranking=ranking))
    assert {hit.passage.passage_id for hit in without.hits} == SCREENED
    assert (without.screened, without.joined) == (2, 0)
    result = retriever().hybrid(asked(1, ranking=ranking))
    assert (result.screened, result.joined) == (2, 1)
    hits = {hit.passage.passage_id: hit for hit in result.hits}
    assert set(hits) == {"near#p0", *SCREENED}
    assert (hits["near#p0"].bm25, hits["near#p0"].sparse_rank) == (0.0, None)
    assert hits["near#p0"].dense_rank == 1
    assert {hits[name].sparse_rank for name in SCREENED} == {1, 2}


def test_what_was_screened_keeps_its_score() -> None:
    before = {hit.passage.passage_id: hit.score for hit in retriever().hybrid(asked(0)).hits}
    after = {hit.passage.passage_id: hit.score for hit in retriever().hybrid(asked(9)).hits}
    assert {name: after[name] for name in SCREENED} == before
    assert set(after) == set(TEXTS)


def test_what_the_screening_left_out_joins_with_its_bm25() -> None:
    result = retriever().hybrid(asked(9, screening_top_k=1))
    assert (result.screened, result.joined) == (1, 3)
    full = {hit.passage.passage_id: hit for hit in retriever().hybrid(asked(9)).hits}
    for hit in result.hits:
        assert hit.bm25 == full[hit.passage.passage_id].bm25
        assert hit.score == pytest.approx(full[hit.passage.passage_id].score)


def test_filters_hold_for_those_that_join() -> None:
    result = retriever().hybrid(asked(9, filters=Filters(paper_ids=("said", "far"))))
    assert {hit.passage.paper_id for hit in result.hits} == {"said", "far"}


def test_a_question_of_unknown_words_finds_the_nearest() -> None:
    assert retriever().hybrid(asked(0, text="zyxel")).hits == []
    result = retriever().hybrid(asked(1, text="zyxel"))
    assert [hit.passage.passage_id for hit in result.hits] == ["near#p0"]
    assert (result.screened, result.joined) == (0, 1)


def test_without_the_dense_engine_nothing_joins() -> None:
    def away(called: str) -> None:
        if called == "search":
            raise BackendUnavailable("weaviate", "no answer")

    with pytest.raises(BackendUnavailable):
        retriever(away).hybrid(asked(9))
    result = retriever(away).hybrid(asked(9, allow_degraded=True))
    assert {hit.passage.passage_id for hit in result.hits} == SCREENED
    assert (result.degraded, result.joined) == (("weaviate",), 0)


def test_the_widening_costs_nothing_where_it_is_not_wanted() -> None:
    called: list[str] = []
    found = retriever(called.append).hybrid(asked(0))
    assert called.count("search") == called.count("screen") == 1
    assert "widen" not in found.timings_ms
    assert "widen" in retriever().hybrid(asked(1)).timings_ms


def test_the_nearest_distance_comes_with_the_widening() -> None:
    called: list[str] = []
    plain = retriever(called.append).hybrid(asked(0, nearest=True))
    assert called.count("search") == 2
    called.clear()
    result = retriever(called.append).hybrid(asked(1, nearest=True))
    assert called.count("search") == 2
    assert result.nearest_distance == plain.nearest_distance
    nowhere = asked(1, nearest=True, filters=Filters(topic="nowhere"))
    assert retriever().hybrid(nowhere).nearest_distance is None


def test_explain_shows_what_joined_and_was_not_screened() -> None:
    before = retriever().explain(asked(0), "near#p0")
    assert before.ranking is None
    assert not before.dense.joined
    why = retriever().explain(asked(1), "near#p0")
    assert why.dense.joined
    assert why.dense.rank == 1
    assert why.sparse is not None
    assert (why.sparse.screened, why.sparse.bm25) == (False, 0.0)
    assert why.ranking is not None
    order = [hit.passage.passage_id for hit in retriever().hybrid(asked(1)).hits]
    assert order[why.ranking.rank - 1] == "near#p0"
    other = retriever().explain(asked(1), "said#p0")
    assert not other.dense.joined
    assert other.sparse is not None
    assert other.sparse.screened
    assert other.sparse.last_screened == pytest.approx(
        min(hit.bm25 or 0 for hit in retriever().hybrid(asked(0)).hits)
    )
