"""Any history of writes, closes and reopenings leaves the embedded store answering as a
brute-force model of the passages that are left does. `ASKEM_HYPOTHESIS=thorough` searches longer.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from askem.models import Filters, SourceKey
from askem.ports import EncodedSource, StoredCounts
from askem.stores.embedded import EmbeddedStore
from askem.testing.contract import (
    assert_same_neighbours,
    assert_same_screening,
    make_source,
    model_of,
)
from askem.testing.fakes import FakeEncoder
from askem.text.analysis import question_terms

THOROUGH = os.environ.get("ASKEM_HYPOTHESIS") == "thorough"
LIMITS = (500, 50) if THOROUGH else (20, 20)

ENCODER = FakeEncoder(16, window=8)
WORDS = "virus spike lung model HQ HQ-M SARS-CoV-2 soil of the dose trial B.1.1.7".split()
TOPICS = ["covid-19", "HQ", "HQ-M", "soil"]
PAPERS = ["a", "b", "10.1101-2020", "10.1101-2020.03"]
KEYS = [SourceKey(paper, "paragraph") for paper in PAPERS] + [
    SourceKey("a", "figure", "1"),
    SourceKey("a", "figure", "1-2"),
]

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=20).map(" ".join)
passages = st.lists(texts, max_size=5)
topics = st.lists(st.sampled_from(TOPICS), min_size=1, max_size=3, unique=True)
keys = st.sampled_from(KEYS)
tuples = st.one_of(st.just(()), st.lists(st.sampled_from(PAPERS), max_size=3).map(tuple))
filters = st.builds(
    Filters,
    topic=st.none() | st.sampled_from(TOPICS),
    doc_type=st.none() | st.sampled_from(["paragraph", "figure"]),
    preprocessor_id=st.none() | st.sampled_from(["v1", "v2"]),
    paragraph_terms=st.just(()) | st.lists(st.sampled_from(WORDS), max_size=2).map(tuple),
    paper_ids=tuples,
)
within = st.none() | st.lists(
    st.builds(lambda key, order: key.passage_id(order), keys, st.integers(0, 5)), max_size=12
)
top_k = st.sampled_from([1, 3, 100])


def made(key: SourceKey, texts: list[str], topics: list[str], preprocessor: str) -> EncodedSource:
    return make_source(
        key.paper_id,
        texts,
        ENCODER,
        topics=topics,
        doc_type=key.doc_type,
        cosmos_object_id=key.cosmos_object_id,
        preprocessor_id=preprocessor,
    )


class EmbeddedHistory(RuleBasedStateMachine):
    """Writes go to one handle, reads to both it and another one on the same folder."""

    @initialize()
    def open_both(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.held: dict[SourceKey, EncodedSource] = {}
        self.writing = EmbeddedStore.open(self.folder, ENCODER)
        self.reading = EmbeddedStore.open(self.folder, ENCODER)

    @rule(
        sources=st.lists(
            st.builds(made, keys, passages, topics, st.sampled_from(["v1", "v2"])),
            min_size=1,
            max_size=3,
        )
    )
    def add_or_change(self, sources: list[EncodedSource]) -> None:
        self.writing.writer.replace(sources)
        self.held |= {source.key: source for source in sources}

    @rule(key=keys)
    def shrink(self, key: SourceKey) -> None:
        if key in self.held:
            held = self.held[key]
            texts = [passage.text for passage in held.passages[:-1]]
            self.held[key] = made(key, texts, list(held.topics), held.preprocessor_id)
            self.writing.writer.replace([self.held[key]])

    @rule(chosen=st.lists(keys, min_size=1, max_size=2))
    def delete(self, chosen: list[SourceKey]) -> None:
        self.writing.writer.delete(chosen)
        for key in chosen:
            self.held.pop(key, None)

    @rule()
    def compact(self) -> None:
        self.writing.writer.compact()

    @rule()
    def reopen(self) -> None:
        self.writing.close()
        self.writing = EmbeddedStore.open(self.folder, ENCODER)

    @rule()
    def change_places(self) -> None:
        self.writing, self.reading = self.reading, self.writing

    @rule(question=texts, filters=filters, top_k=top_k, within=within)
    def ask(self, question: str, filters: Filters, top_k: int, within: list[str] | None) -> None:
        model = model_of(self.held.values(), ENCODER)
        terms, vector = question_terms(question), ENCODER.encode_question(question)
        for store in (self.writing, self.reading):
            screened = store.sparse.screen(terms, top_k, filters)
            assert_same_screening(screened, model, terms, top_k, filters, 1e-6)
            found = store.dense.search(vector, top_k, filters, within)
            assert_same_neighbours(found, model, vector, top_k, filters, within, 1e-4)

    @invariant()
    def both_hold_every_passage(self) -> None:
        written = {p.passage_id: p for source in self.held.values() for p in source.passages}
        for store in (self.writing, self.reading):
            assert store.reader.passages([*written, "gone#p0"]) == written
            assert store.reader.snapshot().passages == len(written)

    def teardown(self) -> None:
        counted = self.reading.writer.counts(list(self.held))
        assert counted == [StoredCounts(n, n) for n in map(len_of, self.held.values())]
        self.writing.close()
        self.reading.close()
        shutil.rmtree(self.folder)


def len_of(source: EncodedSource) -> int:
    return len(source.passages)


TestEmbeddedHistory = EmbeddedHistory.TestCase
TestEmbeddedHistory.settings = settings(
    max_examples=LIMITS[0],
    stateful_step_count=LIMITS[1],
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
