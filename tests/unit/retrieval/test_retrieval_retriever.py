"""The way of a question through both legs, over brute-force fakes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from askem.errors import BackendUnavailable
from askem.models import (
    RANKINGS,
    Filters,
    Hit,
    Passage,
    Question,
    Ranking,
    Repair,
    SearchResult,
    Steering,
    Vector,
)
from askem.retrieval import Retriever
from askem.testing.fakes import FakeEncoder, FakeStore, Hook

TEXTS = {
    "a": ["The infection model has eight stages.", "Lockdown reduced infection."],
    "b": ["Soil carbon model.", "A model of stages in soil infection."],
    "c": ["The volcano erupted.", "Infection of the lung by the virus, in stages."],
}
QUESTION = "infection stages of the model"


def passages() -> list[Passage]:
    return [
        Passage(f"{paper}#p{i}", paper, "paragraph", "v1", i, text, ("covid-19",))
        for paper, texts in TEXTS.items()
        for i, text in enumerate(texts)
    ]


@pytest.fixture
def encoder() -> FakeEncoder:
    return FakeEncoder()


@pytest.fixture
def store(encoder: FakeEncoder) -> FakeStore:
    return FakeStore(passages(), encoder)


@pytest.fixture
def retriever(encoder: FakeEncoder, store: FakeStore) -> Retriever:
    return Retriever(encoder=encoder, sparse=store, dense=store, reader=store)


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.passage.passage_id for hit in hits]


def true_distance(hit: Hit, vector: Vector, encoder: FakeEncoder) -> float:
    (windows,) = encoder.encode_passages([hit.passage.text])
    return 1.0 - float((windows @ (vector / np.linalg.norm(vector))).max())


# Vector search


def test_vector_hits_are_the_nearest_in_order(retriever: Retriever, encoder: FakeEncoder) -> None:
    result = retriever.vector(Question(QUESTION, top_k=10))
    distances = [hit.distance for hit in result.hits]
    assert len(result.hits) == 6
    assert distances == sorted(distances)
    assert [hit.dense_rank for hit in result.hits] == [1, 2, 3, 4, 5, 6]
    for hit in result.hits:
        assert hit.score == pytest.approx(1 - hit.distance)
        assert hit.bm25 is hit.sparse_rank is None


def test_vector_has_no_sparse_figures(retriever: Retriever) -> None:
    result = retriever.vector(Question(QUESTION))
    assert (result.screened, result.terms, result.score_scale) == (None, (), None)
    assert set(result.timings_ms) == {"encode", "dense", "rank", "total"}


@pytest.mark.parametrize("top_k", [1, 3, 6, 50])
def test_top_k_is_obeyed(retriever: Retriever, top_k: int) -> None:
    question = Question(QUESTION, top_k=top_k)
    assert len(retriever.vector(question).hits) == min(top_k, 6)
    every = ids(retriever.hybrid(Question(QUESTION, top_k=50)).hits)
    assert ids(retriever.hybrid(question).hits) == every[:top_k]


# Hybrid


@pytest.mark.parametrize("ranking", RANKINGS)
def test_distances_are_true_whatever_the_ranking(
    retriever: Retriever, encoder: FakeEncoder, ranking: Ranking
) -> None:
    steering = Steering("volcano", 0.7, "soil carbon", 0.4)
    question = Question(QUESTION, ranking=ranking, steering=steering)
    vector = retriever.steered_vector(question)
    hits = retriever.hybrid(question).hits
    assert hits
    for hit in hits:
        assert hit.distance == pytest.approx(true_distance(hit, vector, encoder), abs=1e-6)


@pytest.mark.parametrize("ranking", RANKINGS)
def test_hits_are_ordered_by_score_with_both_legs_figures(
    retriever: Retriever, store: FakeStore, ranking: Ranking
) -> None:
    result = retriever.hybrid(Question(QUESTION, top_k=10, ranking=ranking))
    screened = store.screen(list(result.terms), 100, Filters())
    ranked = [hit.score for hit in result.hits]
    assert ranked == sorted(ranked, reverse=True)
    assert result.screened == len(screened.passage_ids) == len(result.hits) == 5
    for hit in result.hits:
        assert hit.sparse_rank is not None
        assert screened.passage_ids[hit.sparse_rank - 1] == hit.passage.passage_id
        assert hit.bm25 == screened.bm25[hit.sparse_rank - 1]
    by_distance = sorted(result.hits, key=lambda hit: hit.distance)
    assert [hit.dense_rank for hit in by_distance] == [1, 2, 3, 4, 5]


def test_rankings_do_differ(retriever: Retriever) -> None:
    steering = Steering("lockdown reduced", 1.0)
    orders = {
        tuple(ids(retriever.hybrid(Question(QUESTION, 9, steering=steering, ranking=r)).hits))
        for r in RANKINGS
    }
    assert len(orders) > 1


def test_screening_limits_what_is_compared(retriever: Retriever, store: FakeStore) -> None:
    result = retriever.hybrid(Question(QUESTION, top_k=9, screening_top_k=2))
    best = store.screen(list(result.terms), 2, Filters()).passage_ids
    assert result.screened == 2
    assert sorted(ids(result.hits)) == sorted(best)


def test_terms_and_their_scale_are_told(retriever: Retriever) -> None:
    result = retriever.hybrid(Question("What is the zyxel of infection in stages?"))
    assert result.terms == ("zyxel", "infect", "stage")
    assert result.unknown_terms == ("zyxel",)
    # 6 passages; zyxel in 0, infection in 4, stages in 3.
    idf = [math.log(1 + (6 - n + 0.5) / (n + 0.5)) for n in (0, 4, 3)]
    assert result.score_scale == pytest.approx(sum(idf))
    assert set(result.timings_ms) == {"sparse", "encode", "dense", "rank", "total"}
    assert all(spent >= 0 for spent in result.timings_ms.values())


def test_a_question_without_content_words_is_answered_by_distance(retriever: Retriever) -> None:
    question = Question("what is it?", top_k=3)
    result = retriever.hybrid(question)
    assert result.screened is None
    assert result.terms == ()
    assert ids(result.hits) == ids(retriever.vector(question).hits)


def test_a_question_of_unknown_words_alone_has_no_hits(retriever: Retriever) -> None:
    result = retriever.hybrid(Question("zyxel quux"))
    assert (result.hits, result.screened) == ([], 0)
    assert result.unknown_terms == ("zyxel", "quux")


def test_filters_go_to_both_legs(retriever: Retriever) -> None:
    question = Question(QUESTION, top_k=9, filters=Filters(paper_ids=("b",)))
    assert set(ids(retriever.hybrid(question).hits)) == {"b#p0", "b#p1"}
    assert set(ids(retriever.vector(question).hits)) == {"b#p0", "b#p1"}
    nowhere = Question(QUESTION, filters=Filters(topic="nowhere"))
    assert retriever.hybrid(nowhere).hits == retriever.vector(nowhere).hits == []


def search(retriever: Retriever, mode: str, question: Question) -> SearchResult:
    return retriever.hybrid(question) if mode == "hybrid" else retriever.vector(question)


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_max_distance_is_inclusive(retriever: Retriever, mode: str) -> None:
    every = search(retriever, mode, Question(QUESTION, top_k=9)).hits
    limit = sorted(hit.distance for hit in every)[2]
    kept = search(retriever, mode, Question(QUESTION, top_k=9, max_distance=limit)).hits
    assert ids(kept) == [hit.passage.passage_id for hit in every if hit.distance <= limit]
    assert len(kept) == 3
    below = Question(QUESTION, top_k=9, max_distance=limit - 1e-5)
    assert len(search(retriever, mode, below).hits) == 2


def test_max_distance_comes_before_top_k(retriever: Retriever) -> None:
    """A far hit that ranks high does not take the place of a near one."""
    every = retriever.hybrid(Question(QUESTION, top_k=9)).hits
    limit = sorted(hit.distance for hit in every)[1]
    kept = retriever.hybrid(Question(QUESTION, top_k=2, max_distance=limit)).hits
    assert ids(kept) == [hit.passage.passage_id for hit in every if hit.distance <= limit]


# Repair and measures


def test_a_misspelt_word_is_found_all_the_same(retriever: Retriever) -> None:
    plain = retriever.hybrid(Question("lung infection", top_k=9))
    result = retriever.hybrid(Question("lung infectoin", top_k=9, repair=True))
    assert result.repairs == (Repair("infectoin", "Infection"),)
    assert (result.terms, result.unknown_terms) == (("lung", "infect"), ())
    assert result.score_scale == pytest.approx(plain.score_scale)
    bm25 = {hit.passage.passage_id: hit.bm25 for hit in plain.hits}
    assert {hit.passage.passage_id: hit.bm25 for hit in result.hits} == bm25
    assert "repair" in result.timings_ms


@pytest.mark.parametrize("beside", [False, True])
def test_the_vector_is_that_of_the_repaired_text(
    encoder: FakeEncoder, store: FakeStore, beside: bool
) -> None:
    steering = Steering("soil", 0.5)
    with ThreadPoolExecutor(1) as pool:
        retriever = Retriever(
            encoder=encoder,
            sparse=store,
            dense=store,
            reader=store,
            executor=pool if beside else None,
        )
        plain, misspelt = (
            retriever.hybrid(Question(text, top_k=9, steering=steering, repair=True, nearest=True))
            for text in ("lung infection", "lung infectoin")
        )
    assert misspelt.hits == plain.hits
    assert misspelt.nearest_distance == plain.nearest_distance


def test_repair_is_left_out_where_it_is_not_wanted(retriever: Retriever) -> None:
    result = retriever.hybrid(Question("lung infectoin"))
    assert (result.repairs, result.unknown_terms) == ((), ("infectoin",))


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("infection stages", ["screen"]),
        ("zyxelo stages", ["screen", "vocabulary"]),
        ("infectoin stages", ["screen", "vocabulary", "screen"]),
    ],
)
def test_only_unknown_words_cost_anything(
    encoder: FakeEncoder, text: str, calls: list[str]
) -> None:
    called: list[str] = []
    store = FakeStore(passages(), encoder, hook=called.append)
    Retriever(encoder=encoder, sparse=store, dense=store, reader=store).hybrid(
        Question(text, repair=True)
    )
    assert [name for name in called if name in ("screen", "vocabulary")] == calls


def test_a_vocabulary_that_cannot_be_asked_is_an_outage(encoder: FakeEncoder) -> None:
    store = FakeStore(passages(), encoder, hook=failing_at("vocabulary"))
    retriever = Retriever(encoder=encoder, sparse=store, dense=store, reader=store)
    with pytest.raises(BackendUnavailable, match="vocabulary: away"):
        retriever.hybrid(Question("infectoin", repair=True))
    result = retriever.hybrid(Question("infectoin", repair=True, allow_degraded=True))
    assert result.degraded == ("vocabulary",)


def test_the_nearest_passage_is_measured_where_it_is_wanted(
    retriever: Retriever, store: FakeStore
) -> None:
    steering = Steering("volcano erupted", 1.0, QUESTION, 1.0)
    question = Question(QUESTION, steering=steering, nearest=True)
    result = retriever.hybrid(question)
    vector = retriever.steered_vector(question)
    nearest = store.search(vector, 1, Filters())
    assert result.nearest_distance == nearest.distances[0]
    assert nearest.passage_ids[0] not in ids(result.hits)
    assert retriever.vector(question).nearest_distance == nearest.distances[0]
    assert retriever.hybrid(Question(QUESTION, steering=steering)).nearest_distance is None


# Steering


def test_steering_is_move_to_first_then_away(retriever: Retriever, encoder: FakeEncoder) -> None:
    question = Question(QUESTION, steering=Steering("volcano", 0.5, "soil", 1.0))
    q, to, away = (encoder.encode_question(text) for text in (QUESTION, "volcano", "soil"))
    moved = 0.75 * q + 0.25 * to
    np.testing.assert_allclose(
        retriever.steered_vector(question), moved + 0.5 * (moved - away), atol=1e-6
    )


@pytest.mark.parametrize(
    "steering", [Steering(), Steering("volcano", 0.0, "soil", 0.0), Steering(None, 0.5, None, 0.5)]
)
def test_without_weight_or_concept_nothing_moves(
    retriever: Retriever, encoder: FakeEncoder, steering: Steering
) -> None:
    vector = retriever.steered_vector(Question(QUESTION, steering=steering))
    assert np.array_equal(vector, encoder.encode_question(QUESTION))


def test_steering_moves_hits(retriever: Retriever) -> None:
    plain = ids(retriever.vector(Question(QUESTION, top_k=1)).hits)
    steering = Steering("volcano erupted", 1.0, QUESTION, 1.0)
    steered = ids(retriever.vector(Question(QUESTION, top_k=1, steering=steering)).hits)
    assert steered == ["c#p0"] != plain


# What may go wrong


class Forgetful(FakeStore):
    """Passages deleted after the sparse leg, or after both legs."""

    def __init__(self, encoder: FakeEncoder, *, at: str) -> None:
        super().__init__(passages(), encoder, hook=self._forget)
        self._at = at

    def _forget(self, method: str) -> None:
        if method == self._at:
            self._passages.pop("a#p0", None)


@pytest.mark.parametrize("at", ["search", "passages"])
def test_a_passage_deleted_between_the_legs_disappears_quietly(
    encoder: FakeEncoder, retriever: Retriever, at: str
) -> None:
    assert "a#p0" in ids(retriever.hybrid(Question(QUESTION, top_k=9)).hits)
    store = Forgetful(encoder, at=at)
    forgetful = Retriever(encoder=encoder, sparse=store, dense=store, reader=store)
    found = ids(forgetful.hybrid(Question(QUESTION, top_k=9)).hits)
    assert len(found) == 4
    assert "a#p0" not in found


def failing_at(method: str) -> Hook:
    def hook(called: str) -> None:
        if called == method:
            raise BackendUnavailable(method, "away")

    return hook


@pytest.mark.parametrize("leg", ["screen", "search", "passages", "encode_question"])
def test_a_leg_that_fails_is_an_error_never_an_empty_result(leg: str) -> None:
    encoder = FakeEncoder(hook=failing_at(leg))
    store = FakeStore(passages(), FakeEncoder(), hook=failing_at(leg))
    with ThreadPoolExecutor(1) as pool:
        retriever = Retriever(
            encoder=encoder, sparse=store, dense=store, reader=store, executor=pool
        )
        with pytest.raises(BackendUnavailable, match=f"{leg}: away"):
            retriever.hybrid(Question(QUESTION))


def test_encoding_beside_screening_changes_nothing(
    encoder: FakeEncoder, store: FakeStore, retriever: Retriever
) -> None:
    question = Question(QUESTION, top_k=9, steering=Steering("soil", 0.5))
    with ThreadPoolExecutor(1) as pool:
        beside = Retriever(encoder=encoder, sparse=store, dense=store, reader=store, executor=pool)
        result = beside.hybrid(question)
    assert result.hits == retriever.hybrid(question).hits
    assert set(result.timings_ms) == {"sparse", "encode", "dense", "rank", "total"}
