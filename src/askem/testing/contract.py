"""What every store must do, as tests: subclass `StoreContract` and give it a `store` fixture.

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self, encoder): ...   # open, empty, with sparse, dense, reader, writer, ledger

Needs pytest. The truth is `FakeStore`, a brute-force model of the same ports built from the same
passages.
"""
# ruff: noqa: S101 - these are tests

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Protocol

import numpy as np
import pytest

from askem.models import DenseHits, DocType, Filters, Passage, Screened, SourceKey, Vector
from askem.ports import (
    DenseIndex,
    EncodedSource,
    Encoder,
    Ledger,
    LedgerEntry,
    PassageReader,
    PassageWriter,
    SparseIndex,
    StoredCounts,
)
from askem.testing.fakes import FakeEncoder, FakeStore
from askem.text.analysis import question_terms, tokens
from askem.text.terms import term_counts

EVERYTHING = 1_000_000


class Store(Protocol):
    """All ports over the same passages."""

    @property
    def sparse(self) -> SparseIndex: ...
    @property
    def dense(self) -> DenseIndex: ...
    @property
    def reader(self) -> PassageReader: ...
    @property
    def writer(self) -> PassageWriter: ...
    @property
    def ledger(self) -> Ledger: ...


def make_source(
    paper_id: str,
    texts: Sequence[str],
    encoder: Encoder,
    *,
    topics: Sequence[str] = ("covid-19",),
    doc_type: DocType = "paragraph",
    cosmos_object_id: str = "",
    preprocessor_id: str = "papers-v1",
) -> EncodedSource:
    """A source as the pipeline makes it from texts that are already passages."""
    key = SourceKey(paper_id, doc_type, cosmos_object_id)
    passages = tuple(
        Passage(
            passage_id=key.passage_id(order, f"überblick--{order}"),
            paper_id=paper_id,
            doc_type=doc_type,
            preprocessor_id=preprocessor_id,
            order=order,
            text=text,
            topics=tuple(sorted(topics)),
            cosmos_object_id=cosmos_object_id or None,
            paragraph_terms=tuple(term for term, _ in term_counts(text)),
        )
        for order, text in enumerate(texts)
    )
    return EncodedSource(
        key=key,
        content_hash=hashlib.sha256("\n\n".join(texts).encode()).hexdigest(),
        preprocessor_id=preprocessor_id,
        topics=tuple(sorted(topics)),
        passages=passages,
        tokens=tuple(tuple(tokens(text)) for text in texts),
        vectors=tuple(encoder.encode_passages(texts)),
    )


def model_of(sources: Iterable[EncodedSource], encoder: FakeEncoder) -> FakeStore:
    """What a store that holds exactly these sources has to answer like."""
    return FakeStore([p for source in sources for p in source.passages], encoder)


def assert_same_screening(
    got: Screened,
    model: FakeStore,
    terms: Sequence[str],
    top_k: int,
    filters: Filters,
    tolerance: float,
    within: Sequence[str] | None = None,
) -> None:
    """Same ids in the same order up to ties, same scores, statistics and places of the terms."""
    every = model.screen(terms, EVERYTHING, filters, within)
    score = dict(zip(every.passage_ids, every.bm25, strict=True))
    wanted = every.bm25[:top_k]
    _assert_ranked(got.passage_ids, got.bm25, score, wanted, tolerance)
    np.testing.assert_allclose(got.idf, every.idf, atol=tolerance)
    norm_of = dict(zip(every.passage_ids, every.norms, strict=True))
    length_of = dict(zip(every.passage_ids, every.lengths, strict=True))
    np.testing.assert_allclose(got.norms, [norm_of[i] for i in got.passage_ids], atol=tolerance)
    assert got.lengths.tolist() == [length_of[i] for i in got.passage_ids]
    assert got.document_frequency.tolist() == every.document_frequency.tolist()
    kept = set(got.passage_ids)
    places = _places(got)
    assert sorted(places) == sorted(place for place in _places(every) if place[0] in kept)
    order = list(zip(got.hit_rows.tolist(), got.hit_positions.tolist(), strict=True))
    assert order == sorted(order)


def assert_same_neighbours(
    got: DenseHits,
    model: FakeStore,
    vector: Vector,
    top_k: int,
    filters: Filters,
    within: Sequence[str] | None,
    tolerance: float,
) -> None:
    """Same ids in the same order up to ties, same distances."""
    every = model.search(vector, EVERYTHING, filters, within)
    distance = dict(zip(every.passage_ids, every.distances, strict=True))
    _assert_ranked(got.passage_ids, got.distances, distance, every.distances[:top_k], tolerance)


def _assert_ranked(
    ids: list[str],
    figures: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    true: dict[str, float],
    wanted: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    tolerance: float,
) -> None:
    assert len(ids) == len(set(ids)) == len(wanted)
    assert set(ids) <= set(true)
    np.testing.assert_allclose(figures, wanted, rtol=0, atol=tolerance)
    np.testing.assert_allclose(figures, [true[key] for key in ids], rtol=0, atol=tolerance)


def _places(screened: Screened) -> list[tuple[str, int, int]]:
    ids = [screened.passage_ids[row] for row in screened.hit_rows]
    columns = (ids, screened.hit_positions.tolist(), screened.hit_terms.tolist())
    return list(zip(*columns, strict=True))


def contract_corpus(encoder: FakeEncoder) -> list[EncodedSource]:
    """Sources whose ids, topics and terms are easily taken for one another."""
    dotted = "10.1101-2020.03"
    return [
        make_source(
            "sidarthe",
            [
                "The SIDARTHE model has eight stages of infection.",
                "Lockdown measures reduced transmission of SARS-CoV-2 in Lombardy.",
                "Contact tracing reduced transmission; the model was fitted by day.",
            ],
            encoder,
        ),
        make_source(
            "sidarthe",
            ["Figure 3. Stages of the SIDARTHE model, infection by day."],
            encoder,
            doc_type="figure",
            cosmos_object_id="obj-3",
            preprocessor_id="figures-v1",
        ),
        make_source(
            dotted,
            ["Variant B.1.1.7/VOC spread faster; transmission in Kent.", "SARS-CoV infection."],
            encoder,
            topics=("covid-19", "HQ"),
        ),
        make_source(f"{dotted}.1", ["Variant B.1.1.7 infection model."], encoder, topics=("HQ-M",)),
        make_source(
            "2020.03",
            ["HQ-M and HQ are infection terms.", "hq infection, in lower case."],
            encoder,
            topics=("hq", "HQ_M"),
            preprocessor_id="papers-v10",
        ),
        make_source("Sidarthe", ["Infection stages, other case."], encoder, topics=("covid",)),
    ]


_DOTTED = "10.1101-2020.03"
FILTERS = [
    Filters(),
    Filters(topic="HQ"),
    Filters(topic="HQ-M"),
    Filters(topic="hq"),
    Filters(topic="covid"),
    Filters(topic="covid-19"),
    Filters(topic="H"),
    Filters(topic=""),
    Filters(topic="HQ' OR '1'='1"),
    Filters(doc_type="figure"),
    Filters(doc_type="paragraph"),
    Filters(preprocessor_id="papers-v1"),
    Filters(preprocessor_id="papers-v10"),
    Filters(preprocessor_id="papers"),
    Filters(paper_ids=(_DOTTED,)),
    Filters(paper_ids=("10.1101",)),
    Filters(paper_ids=("2020.03", "Sidarthe")),
    Filters(paper_ids=("sidarthe", "nowhere")),
    Filters(paper_ids=("nowhere",)),
    Filters(paragraph_terms=("HQ",)),
    Filters(paragraph_terms=("SARS-CoV",)),
    Filters(paragraph_terms=("SARS-CoV-2", "B.1.1.7/VOC")),
    Filters(paragraph_terms=("B.1.1.7",)),
    Filters(paragraph_terms=("sars-cov-2",)),
    Filters(topic="covid-19", doc_type="figure"),
    Filters(topic="covid-19", paper_ids=(_DOTTED, f"{_DOTTED}.1")),
    Filters(topic="HQ", doc_type="figure"),
    Filters(
        topic="covid-19",
        doc_type="paragraph",
        preprocessor_id="papers-v1",
        paper_ids=("sidarthe", "2020.03"),
        paragraph_terms=("SARS-CoV-2", "HQ"),
    ),
]
QUESTIONS = ["transmission of infection", "SIDARTHE model stages", "unheard-of infection model"]


class StoreContract:
    """Tests of a store that is empty at first. Tolerances may be widened, with the reason."""

    bm25_tolerance = 1e-9
    distance_tolerance = 1e-6

    @pytest.fixture
    def encoder(self) -> FakeEncoder:
        return FakeEncoder()

    def assert_holds(
        self,
        store: Store,
        encoder: FakeEncoder,
        sources: Sequence[EncodedSource],
        filters: Sequence[Filters] = (Filters(),),
        top_k: int = EVERYTHING // 1000,
    ) -> None:
        """The store answers as one that holds exactly these sources does."""
        model = model_of(sources, encoder)
        for question in QUESTIONS:
            terms, vector = question_terms(question), encoder.encode_question(question)
            for chosen in filters:
                screened = store.sparse.screen(terms, top_k, chosen)
                assert_same_screening(screened, model, terms, top_k, chosen, self.bm25_tolerance)
                found = store.dense.search(vector, top_k, chosen)
                assert_same_neighbours(
                    found, model, vector, top_k, chosen, None, self.distance_tolerance
                )

    # Writing

    def test_an_empty_store_answers_with_nothing(self, store: Store, encoder: FakeEncoder) -> None:
        self.assert_holds(store, encoder, [], FILTERS)
        vector = encoder.encode_question("anything")
        assert store.dense.search(vector, 5, Filters(), within=["a#p0"]).passage_ids == []
        assert store.reader.snapshot().passages == 0
        assert store.reader.topics() == []
        assert store.reader.papers(topic=None, after=None, limit=5) == []

    def test_what_was_replaced_is_found(self, store: Store, encoder: FakeEncoder) -> None:
        sources = contract_corpus(encoder)
        store.writer.replace(sources)
        self.assert_holds(store, encoder, sources)

    def test_counts_are_read_from_both_legs(self, store: Store, encoder: FakeEncoder) -> None:
        sources = contract_corpus(encoder)
        store.writer.replace(sources)
        keys = [source.key for source in sources]
        counted = store.writer.counts([*keys, SourceKey("nowhere", "paragraph")])
        wanted = [len(source.passages) for source in sources]
        assert counted == [*(StoredCounts(n, n) for n in wanted), StoredCounts(0, 0)]

    def test_vectors_are_read_back_as_they_were_written(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        windowed = make_source("long", ["infection model " * 100, "short"], encoder)
        sources = [*contract_corpus(encoder), windowed]
        store.writer.replace(sources)
        with store.writer.exclusive():
            for source in sources:
                found = store.writer.vectors(source.key)
                assert found is not None
                for array, written in zip(found, source.vectors, strict=True):
                    assert array.dtype == np.float32
                    np.testing.assert_allclose(array, written, atol=self.distance_tolerance)
            assert store.writer.vectors(SourceKey("nowhere", "paragraph")) is None

    def test_replacing_with_fewer_passages_removes_the_rest(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        first, *others = contract_corpus(encoder)
        shorter = make_source("sidarthe", ["Only infection is left of the model."], encoder)
        store.writer.replace([first, *others])
        store.writer.replace([shorter])
        self.assert_holds(store, encoder, [shorter, *others], FILTERS)
        assert store.writer.counts([first.key]) == [StoredCounts(1, 1)]
        assert set(store.reader.passages(["sidarthe#p0", "sidarthe#p2"])) == {"sidarthe#p0"}

    def test_replacing_with_no_passages_leaves_none(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        first, *others = contract_corpus(encoder)
        store.writer.replace([first, *others])
        store.writer.replace([make_source("sidarthe", [], encoder)])
        self.assert_holds(store, encoder, others)
        assert store.writer.counts([first.key]) == [StoredCounts(0, 0)]

    def test_replacing_again_changes_nothing(self, store: Store, encoder: FakeEncoder) -> None:
        sources = contract_corpus(encoder)
        store.writer.replace(sources)
        before = store.reader.snapshot()
        for _ in range(3):
            store.writer.replace(sources)
        self.assert_holds(store, encoder, sources, FILTERS)
        assert store.reader.snapshot() == before

    def test_one_source_twice_in_a_batch_is_the_last_of_them(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        earlier = make_source("a", ["infection model", "stages of infection"], encoder)
        later = make_source("a", ["transmission model"], encoder)
        store.writer.replace([earlier, later])
        self.assert_holds(store, encoder, [later])

    def test_deleting_leaves_the_others(self, store: Store, encoder: FakeEncoder) -> None:
        first, *others = contract_corpus(encoder)
        store.writer.replace([first, *others])
        store.writer.delete([first.key, SourceKey("nowhere", "paragraph")])
        self.assert_holds(store, encoder, others, FILTERS)
        assert store.writer.counts([first.key]) == [StoredCounts(0, 0)]

    def test_deleting_everything_leaves_an_empty_store(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        sources = contract_corpus(encoder)
        store.writer.replace(sources)
        store.writer.delete([source.key for source in sources])
        self.assert_holds(store, encoder, [], FILTERS)
        assert store.reader.snapshot().papers == 0

    def test_statistics_are_exact_after_deletes(self, store: Store, encoder: FakeEncoder) -> None:
        kept = contract_corpus(encoder)
        passing = [make_source(f"x{i}", [f"infection model {i}"] * i, encoder) for i in range(9)]
        store.writer.replace([*passing[:5], *kept, *passing[5:]])
        store.writer.replace([make_source("x8", ["transmission stages"], encoder)])
        store.writer.delete([source.key for source in passing])
        self.assert_holds(store, encoder, kept)

    def test_exclusive_is_reentrant(self, store: Store, encoder: FakeEncoder) -> None:
        sources = contract_corpus(encoder)
        with store.writer.exclusive(), store.writer.exclusive():
            store.writer.replace(sources)
        self.assert_holds(store, encoder, sources)

    # Filters

    def test_filters_match_whole_and_exactly_on_both_legs(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        sources = contract_corpus(encoder)
        store.writer.replace(sources)
        self.assert_holds(store, encoder, sources, FILTERS)
        self.assert_holds(store, encoder, sources, FILTERS, top_k=2)

    def test_within_and_filters_are_both_obeyed(self, store: Store, encoder: FakeEncoder) -> None:
        sources = contract_corpus(encoder)
        store.writer.replace(sources)
        model, vector = model_of(sources, encoder), encoder.encode_question(QUESTIONS[0])
        within = ["sidarthe#p1", "nowhere#p0", f"{_DOTTED}#p0", "sidarthe#fig-obj-3.0", "2020.03#p"]
        terms = question_terms(QUESTIONS[0])
        for filters, top_k in product(FILTERS, (1, 2, 100)):
            screened = store.sparse.screen(terms, top_k, filters, within)
            assert_same_screening(
                screened, model, terms, top_k, filters, self.bm25_tolerance, within
            )
            found = store.dense.search(vector, top_k, filters, within)
            assert_same_neighbours(
                found, model, vector, top_k, filters, within, self.distance_tolerance
            )

    def test_within_nothing_is_nothing(self, store: Store, encoder: FakeEncoder) -> None:
        store.writer.replace(contract_corpus(encoder))
        vector = encoder.encode_question("infection")
        for within in ([], ["nowhere#p0"]):
            assert store.dense.search(vector, 5, Filters(), within).passage_ids == []
            assert store.sparse.screen(["infect"], 5, Filters(), within).passage_ids == []

    def test_a_deleted_passage_is_not_found_within(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        first, *others = contract_corpus(encoder)
        store.writer.replace([first, *others])
        store.writer.delete([first.key])
        vector = encoder.encode_question("infection")
        within = ["sidarthe#p0", "Sidarthe#p0", "Sidarthe#p0"]
        assert store.dense.search(vector, 5, Filters(), within).passage_ids == ["Sidarthe#p0"]

    # The sparse leg

    def test_no_terms_find_no_passages(self, store: Store, encoder: FakeEncoder) -> None:
        store.writer.replace(contract_corpus(encoder))
        found = store.sparse.screen([], 5, Filters())
        assert found.passage_ids == []
        assert found.bm25.shape == found.idf.shape == found.hit_rows.shape == (0,)

    def test_unknown_terms_find_nothing_but_have_an_idf(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        sources = contract_corpus(encoder)
        store.writer.replace(sources)
        found = store.sparse.screen(["zzz", "qqq"], 5, Filters())
        assert found.passage_ids == []
        assert found.document_frequency.tolist() == [0, 0]
        passages = sum(len(source.passages) for source in sources)
        # ln(1 + (N - 0 + .5) / (0 + .5)) = ln(2 N + 2)
        np.testing.assert_allclose(found.idf, np.log(2 * passages + 2))

    def test_terms_are_taken_as_they_are(self, store: Store, encoder: FakeEncoder) -> None:
        """Nothing in a term is an operator, and none is analysed again."""
        store.writer.replace(contract_corpus(encoder))
        for term in ("infection", "+infect", 'infect"', "infect*", "Infect", "body:infect", " "):
            assert store.sparse.screen([term], 5, Filters()).passage_ids == []
        assert len(store.sparse.screen(["infect"], 5, Filters()).passage_ids) == 5

    def test_the_vocabulary_is_what_passages_hold(self, store: Store, encoder: FakeEncoder) -> None:
        first, *others = contract_corpus(encoder)
        long = "x" * 200
        others.append(make_source("long", [f"{long} infection", f"{long} {long}"], encoder))
        store.writer.replace([first, *others])
        terms = ["infect", "lombardi", "infectoin", long, f"{long}y", "infect model", "Infect", "*"]
        # As many as the misspelt words of a question may stand for.
        terms += [f"near{number}" for number in range(5000)]
        found = store.sparse.vocabulary(terms)
        assert dict(found) == {"infect": 8, "lombardi": 1, long: 2}
        assert found["infect"] == store.sparse.screen(["infect"], 1, Filters()).document_frequency
        store.writer.delete([first.key])
        found = store.sparse.vocabulary(terms)
        assert dict(found) == model_of(others, encoder).vocabulary(terms)
        assert "lombardi" not in found
        assert dict(store.sparse.vocabulary([])) == {}

    def test_letters_of_all_scripts_are_found(self, store: Store, encoder: FakeEncoder) -> None:
        texts = ["𠮷野家 病毒", "Ünïcode naïve", "вирус гриппа", "\U0001f600 only a face"]
        sources = [make_source("scripts", texts, encoder)]
        store.writer.replace(sources)
        for order, text in enumerate(texts[:3]):
            found = store.sparse.screen(question_terms(text), 5, Filters())
            assert found.passage_ids == [f"scripts#p{order}"]

    def test_a_passage_without_terms_is_stored(self, store: Store, encoder: FakeEncoder) -> None:
        sources = [make_source("a", ["of the", "— !", "infection model"], encoder)]
        store.writer.replace(sources)
        assert store.writer.counts([sources[0].key]) == [StoredCounts(3, 3)]
        self.assert_holds(store, encoder, sources)
        store.writer.delete([sources[0].key])
        self.assert_holds(store, encoder, [])

    def test_equal_scores_are_ordered_by_id(self, store: Store, encoder: FakeEncoder) -> None:
        text = "infection of cells by model viruses in nine stages of transmission"
        names = ["c", "a", "e", "b", "d", "f", "aa"]
        store.writer.replace([make_source(name, [text, "other words"], encoder) for name in names])
        store.writer.replace([make_source("b", [text, "other words"], encoder)])
        in_order = [f"{name}#p0" for name in sorted(names)]
        terms = question_terms(text)
        for top_k in (1, 3, 7):
            assert store.sparse.screen(terms, top_k, Filters()).passage_ids == in_order[:top_k]

    # The dense leg

    def test_equal_distances_are_ordered_by_id(self, store: Store, encoder: FakeEncoder) -> None:
        """Wherever the passages stand: a product of matrices rounds equal rows differently."""
        names = [f"{n * 17 % 47:02}" for n in range(47)]
        store.writer.replace([make_source(name, ["infection model"], encoder) for name in names])
        in_order = [f"{name}#p0" for name in sorted(names)]
        for number, top_k in product(range(20), (1, 3, 47)):
            vector = encoder.encode_question(f"model of transmission {number}00")
            assert store.dense.search(vector, top_k, Filters()).passage_ids == in_order[:top_k]
            within = store.dense.search(vector, top_k, Filters(), in_order[::-1])
            assert within.passage_ids == in_order[:top_k]

    def test_a_long_passage_is_as_near_as_its_nearest_window(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        end = "infection model transmission"
        long = " ".join(f"word{i}" for i in range(200)) + f" {end}"
        sources = [*contract_corpus(encoder), make_source("long", [long, "short"], encoder)]
        assert len(sources[-1].vectors[0]) > 2
        store.writer.replace(sources)
        self.assert_holds(store, encoder, sources, FILTERS)
        self.assert_holds(store, encoder, sources, top_k=1)
        window = sources[-1].vectors[0][-1]
        for within in (None, ["long#p0", "sidarthe#p0"]):
            found = store.dense.search(window, 1, Filters(), within)
            assert found.passage_ids == ["long#p0"]
            np.testing.assert_allclose(found.distances, [0.0], atol=self.distance_tolerance)

    def test_deleted_neighbours_do_not_take_the_place_of_others(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        near = make_source("near", ["infection model"] * 40, encoder)
        far = make_source("far", ["transmission of infection"], encoder)
        store.writer.replace([near, far])
        vector = encoder.encode_question("infection model")
        assert store.dense.search(vector, 1, Filters()).passage_ids == ["near#p0"]
        store.writer.delete([near.key])
        for filters in (Filters(), Filters(topic="covid-19")):
            assert store.dense.search(vector, 1, filters).passage_ids == ["far#p0"]
        assert store.sparse.screen(["model", "infect"], 1, Filters()).passage_ids == ["far#p0"]

    def test_a_vector_may_have_any_length(self, store: Store, encoder: FakeEncoder) -> None:
        sources = contract_corpus(encoder)
        store.writer.replace(sources)
        vector = encoder.encode_question("infection model")
        long = np.asarray(vector * 1000, dtype=np.float32)
        found, same = (store.dense.search(v, 3, Filters()) for v in (vector, long))
        assert found.passage_ids == same.passage_ids
        np.testing.assert_allclose(found.distances, same.distances, atol=self.distance_tolerance)

    def test_distances_lie_between_0_and_2(self, store: Store, encoder: FakeEncoder) -> None:
        store.writer.replace([make_source("a", ["infection model"], encoder)])
        vector = encoder.encode_question("infection model")
        for sign, wanted in ((1.0, 0.0), (-1.0, 2.0)):
            found = store.dense.search(np.asarray(sign * vector, dtype=np.float32), 1, Filters())
            np.testing.assert_allclose(found.distances, [wanted], atol=self.distance_tolerance)
            assert found.distances[0] >= 0.0

    def test_a_zero_vector_is_at_distance_1(self, store: Store, encoder: FakeEncoder) -> None:
        store.writer.replace(contract_corpus(encoder))
        zero = np.zeros(encoder.dimension, dtype=np.float32)
        for within in (None, ["sidarthe#p0", "sidarthe#p1", "2020.03#p0"]):
            found = store.dense.search(zero, 3, Filters(), within)
            assert found.distances.tolist() == [1.0, 1.0, 1.0]
            assert found.passage_ids == sorted(found.passage_ids)

    # Reading

    def test_passages_come_back_as_they_were_written(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        sources = contract_corpus(encoder)
        store.writer.replace(sources)
        written = {p.passage_id: p for source in sources for p in source.passages}
        assert store.reader.passages([*written, "nowhere#p0"]) == written
        assert store.reader.passages([]) == {}

    def test_papers_are_summed_up(self, store: Store, encoder: FakeEncoder) -> None:
        store.writer.replace(contract_corpus(encoder))
        paper = store.reader.paper("sidarthe")
        assert paper is not None
        assert (paper.paragraphs, paper.figures) == (3, 1)
        assert paper.topics == ("covid-19",)
        assert paper.preprocessor_ids == ("figures-v1", "papers-v1")
        assert paper.sections == 0
        assert store.reader.paper("nowhere") is None
        assert store.reader.paper("10.1101-2020") is None

    def test_a_page_of_a_handbook_is_held_by_its_sections_names(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        texts = ["Runbook > Steps\n\n1. infection\n2. model", "Runbook > Table\n\n| a |\n|---|"]
        page = make_source("runbooks.a", texts, encoder, doc_type="section")
        store.writer.replace([page, *contract_corpus(encoder)])
        ids = ["runbooks.a#überblick--0", "runbooks.a#überblick--1"]
        assert [p.passage_id for p in page.passages] == ids
        assert store.reader.passages(ids) == dict(zip(ids, page.passages, strict=True))
        summary = store.reader.paper("runbooks.a")
        assert summary is not None
        assert (summary.paragraphs, summary.figures, summary.sections) == (0, 0, 2)
        filters = Filters(doc_type="section")
        assert store.sparse.screen(["infect"], 9, filters).passage_ids == ids[:1]
        vector = encoder.encode_question("infection model")
        assert sorted(store.dense.search(vector, 9, filters).passage_ids) == ids

    def test_papers_are_listed_page_by_page(self, store: Store, encoder: FakeEncoder) -> None:
        sources = contract_corpus(encoder)
        store.writer.replace(sources)
        listed: list[str] = []
        while page := store.reader.papers(
            topic=None, after=listed[-1] if listed else None, limit=2
        ):
            assert len(page) <= 2
            listed += [paper.paper_id for paper in page]
        assert listed == sorted({source.key.paper_id for source in sources})

    def test_papers_of_a_topic_are_as_the_model_says(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        sources = contract_corpus(encoder)
        store.writer.replace(sources)
        model = model_of(sources, encoder)
        for topic in ("covid-19", "HQ", "HQ-M", "hq", "H"):
            wanted = model.papers(topic=topic, after=None, limit=10)
            got = store.reader.papers(topic=topic, after=None, limit=10)
            assert [paper.paper_id for paper in got] == [paper.paper_id for paper in wanted], topic

    def test_a_papers_passages_are_paged_paragraphs_first(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        many = make_source("many", [f"infection {i}" for i in range(12)], encoder)
        figure = make_source(
            "many", ["a caption"], encoder, doc_type="figure", cosmos_object_id="1"
        )
        store.writer.replace([figure, many, *contract_corpus(encoder)])
        wanted = [p.passage_id for source in (many, figure) for p in source.passages]
        pages = [store.reader.paper_passages("many", limit=5, offset=n) for n in (0, 5, 10, 15)]
        assert [p.passage_id for page in pages for p in page] == wanted
        assert [len(page) for page in pages] == [5, 5, 3, 0]

    def test_topics_are_counted(self, store: Store, encoder: FakeEncoder) -> None:
        sources = contract_corpus(encoder)
        store.writer.replace(sources)
        wanted = model_of(sources, encoder).topics()
        assert sorted(store.reader.topics(), key=lambda count: count.topic) == wanted

    # The snapshot

    def test_a_snapshot_counts_and_names_the_encoder(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        sources = contract_corpus(encoder)
        store.writer.replace(sources)
        snapshot = store.reader.snapshot()
        assert snapshot.papers == len({source.key.paper_id for source in sources})
        assert snapshot.passages == sum(len(source.passages) for source in sources)
        assert snapshot.encoder_id == encoder.encoder_id

    def test_the_digest_does_not_depend_on_the_order(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        sources = contract_corpus(encoder)
        store.writer.replace(sources)
        before = store.reader.snapshot()
        store.writer.delete([source.key for source in sources])
        assert store.reader.snapshot().digest != before.digest
        for source in reversed(sources):
            store.writer.replace([source])
        assert store.reader.snapshot() == before

    def test_the_digest_changes_with_content_topics_and_preprocessor(
        self, store: Store, encoder: FakeEncoder
    ) -> None:
        others = contract_corpus(encoder)
        text = ["infection model"]
        versions = [
            make_source("a", text, encoder),
            make_source("a", ["infection models"], encoder),
            make_source("a", text, encoder, topics=("HQ",)),
            make_source("a", text, encoder, topics=("HQ", "covid-19")),
            make_source("a", text, encoder, preprocessor_id="papers-v2"),
            make_source("b", text, encoder),
        ]
        digests = set()
        for version in versions:
            store.writer.replace([*others, version])
            digests.add(store.reader.snapshot().digest)
            store.writer.delete([version.key])
        assert len(digests) == len(versions)

    # The ledger

    def test_the_ledger_keeps_what_is_recorded(self, store: Store) -> None:
        first, second = _entry("a"), _entry("b", "figure", "obj-1")
        store.ledger.record([first, second])
        assert store.ledger.get(first.key) == first
        assert list(store.ledger.entries()) == [first, second]
        assert list(store.ledger.entries("b")) == [second]
        assert store.ledger.get(SourceKey("a", "figure", "obj-1")) is None

    def test_the_ledger_overwrites_and_forgets(self, store: Store) -> None:
        entry = _entry("a")
        failed = _entry("a", error="it failed")
        store.ledger.record([entry, _entry("b")])
        store.ledger.record([failed])
        assert store.ledger.get(entry.key) == failed
        store.ledger.forget([entry.key, SourceKey("nowhere", "paragraph")])
        assert [known.key.paper_id for known in store.ledger.entries()] == ["b"]


def _entry(
    paper_id: str,
    doc_type: DocType = "paragraph",
    cosmos_object_id: str = "",
    error: str | None = None,
) -> LedgerEntry:
    return LedgerEntry(
        key=SourceKey(paper_id, doc_type, cosmos_object_id),
        state="failed" if error else "complete",
        content_hash="abc",
        preprocessor_id="papers-v1",
        encoder_id="fake",
        topics=("HQ-M", "covid-19"),
        passages=3,
        windows=4,
        updated_at="2026-01-01T00:00:00+00:00",
        error=error,
    )
