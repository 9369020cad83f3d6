"""The way of a paper: receipts, topics, failures, batches, and what is done again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from askem.errors import BackendUnavailable
from askem.ingestion import IngestPipeline, Receipt, Summary
from askem.ingestion.pace import FIRST_PASSAGES, MAX_PASSAGES, Pace
from askem.ingestion.pipeline import MAX_TERMS_PER_PASSAGE, SourceInput
from askem.models import Filters, SourceKey
from askem.ports import EncodedSource, LedgerEntry, PassageWriter, StoredCounts
from askem.stores.embedded import EmbeddedStore
from askem.stores.embedded.verify import EmbeddedVerifier
from askem.testing.fakes import FakeEncoder
from askem.text.preprocessing import Preprocessor, get_preprocessor

A = SourceKey("a", "paragraph")


@pytest.fixture
def encoder() -> FakeEncoder:
    return FakeEncoder(16, window=8)


@pytest.fixture
def store(tmp_path: Path, encoder: FakeEncoder) -> Iterator[EmbeddedStore]:
    with EmbeddedStore.open(tmp_path, encoder) as opened:
        yield opened


def pipeline(
    store: EmbeddedStore,
    encoder: FakeEncoder,
    *,
    writer: PassageWriter | None = None,
    preprocessor: Preprocessor | None = None,
    pace: Pace | None = None,
) -> IngestPipeline:
    return IngestPipeline(
        encoder=encoder,
        writer=writer or store.writer,
        ledger=store.ledger,
        preprocessor=preprocessor or get_preprocessor("paragraphs-v1"),
        pace=pace,
    )


def unused(_: str) -> None:
    raise AssertionError("nothing was to be encoded")


def paper(
    text: str | bytes, *, paper_id: str = "a", topics: Sequence[str] = ("covid-19",)
) -> SourceInput:
    data = text.encode() if isinstance(text, str) else text
    return SourceInput(SourceKey(paper_id, "paragraph"), data, tuple(topics), name=paper_id)


def one(receipts: Iterator[Receipt]) -> Receipt:
    (receipt,) = receipts
    return receipt


def entry(store: EmbeddedStore, key: SourceKey = A) -> LedgerEntry:
    found = store.ledger.get(key)
    assert found is not None
    return found


def served(store: EmbeddedStore, paper_id: str = "a") -> list[str]:
    return [p.text for p in store.reader.paper_passages(paper_id, limit=1000, offset=0)]


def agrees(store: EmbeddedStore, encoder: FakeEncoder) -> bool:
    return EmbeddedVerifier(store, encoder).check().agrees


# Receipts


def test_a_new_paper_is_created_then_unchanged_then_replaced(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    ingest = pipeline(store, encoder).ingest
    first = one(ingest([paper("One infection.\n\nTwo infections.")]))
    assert (first.status, first.passages, first.source, first.reason) == ("created", 2, "a", None)
    again = one(ingest([paper("One infection.\n\nTwo infections.")]))
    assert (again.status, again.passages) == ("unchanged", 2)
    changed = one(ingest([paper("Another.")]))
    assert (changed.status, changed.passages) == ("replaced", 1)
    assert served(store) == ["Another."]
    assert agrees(store, encoder)


def test_the_ledger_says_complete_with_what_was_stored(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    long = " ".join(f"word{i}" for i in range(20))
    receipt = one(pipeline(store, encoder).ingest([paper(f"{long}.\n\nShort text.")]))
    assert (receipt.passages, receipt.split_passages) == (2, 1)
    known = entry(store)
    assert (known.state, known.passages, known.windows, known.error) == ("complete", 2, 4, None)
    assert known.encoder_id == encoder.encoder_id
    assert known.preprocessor_id == "paragraphs-v1"


def test_repairs_are_told(store: EmbeddedStore, encoder: FakeEncoder) -> None:
    receipt = one(pipeline(store, encoder).ingest([paper("in\x00fection \ufb01bre" + " x" * 25)]))
    assert receipt.repairs == {"nul": 1, "ligature": 1}
    assert served(store) == ["infection fibre" + " x" * 25]


def test_another_preprocessor_replaces(store: EmbeddedStore, encoder: FakeEncoder) -> None:
    source = paper("One infection.\n\nTwo infections.")
    list(pipeline(store, encoder).ingest([source]))
    other = pipeline(store, encoder, preprocessor=get_preprocessor("papers-v1"))
    assert one(other.ingest([source])).status == "replaced"
    assert entry(store).preprocessor_id == "papers-v1"


def test_passages_carry_their_terms(store: EmbeddedStore, encoder: FakeEncoder) -> None:
    text = " ".join(f"AB{i}" for i in range(100)) + " SARS-CoV-2 SARS-CoV-2"
    list(pipeline(store, encoder).ingest([paper(text)]))
    terms = store.reader.passages(["a#p0"])["a#p0"].paragraph_terms
    assert terms[0] == "SARS-CoV-2"
    assert len(terms) == MAX_TERMS_PER_PASSAGE


def test_a_summary_counts_receipts() -> None:
    receipts = [
        Receipt("a", "paragraph", "created", passages=3, split_passages=1),
        Receipt("b", "paragraph", "unchanged", passages=2),
        Receipt("c", "paragraph", "failed", reason="why"),
        Receipt("d", "figure", "replaced", passages=1),
    ]
    summary = Summary.of(receipts)
    assert (summary.created, summary.unchanged, summary.replaced, summary.failed) == (1, 1, 1, 1)
    assert (summary.passages, summary.split_passages) == (6, 1)


# Topics


def test_topics_add_up_over_runs(store: EmbeddedStore, encoder: FakeEncoder) -> None:
    ingest = pipeline(store, encoder).ingest
    list(ingest([paper("Text.", topics=["b"])]))
    added = one(ingest([paper("Text.", topics=["a"])]))
    assert (added.status, added.topics, added.topics_added) == ("unchanged", ("a", "b"), ("a",))
    assert entry(store).topics == ("a", "b")
    assert store.reader.passages(["a#p0"])["a#p0"].topics == ("a", "b")
    unchanged = one(ingest([paper("Text.", topics=["b"])]))
    assert (unchanged.status, unchanged.topics) == ("unchanged", ("a", "b"))
    assert unchanged.topics_added == ()
    replaced = one(ingest([paper("New text.", topics=["c"])]))
    assert (replaced.status, replaced.topics) == ("replaced", ("a", "b", "c"))
    assert entry(store).topics == ("a", "b", "c")


def test_a_topic_is_added_without_encoding(store: EmbeddedStore, encoder: FakeEncoder) -> None:
    long = " ".join(f"word{i}" for i in range(20))
    text = f"{long}.\n\nShort infection."
    list(pipeline(store, encoder).ingest([paper(text, topics=["b"])]))
    before = entry(store)
    again = pipeline(store, FakeEncoder(16, window=8, hook=unused))
    receipt = one(again.ingest([paper(text, topics=["a"])]))
    assert (receipt.status, receipt.passages, receipt.split_passages) == ("unchanged", 2, 1)
    assert (entry(store).passages, entry(store).windows) == (before.passages, before.windows)
    assert served(store) == [f"{long}.", "Short infection."]
    for topic in ("a", "b"):
        screened = store.sparse.screen(["infect"], 5, Filters(topic=topic))
        assert screened.passage_ids == ["a#p1"]
        vector = encoder.encode_question("Short infection")
        hits = store.dense.search(vector, 1, Filters(topic=topic))
        assert hits.passage_ids == ["a#p1"]
        assert hits.distances[0] == pytest.approx(0, abs=1e-6)
    assert agrees(store, encoder)


def test_topics_and_new_texts_come_in_one_batch(store: EmbeddedStore, encoder: FakeEncoder) -> None:
    list(pipeline(store, encoder).ingest([paper("One.", paper_id="b", topics=["first"])]))
    writer = Recording(store)
    sources = [
        paper("New.", paper_id="a", topics=["second"]),
        paper("One.", paper_id="b", topics=["second"]),
        paper("Newer.", paper_id="c", topics=["second"]),
    ]
    receipts = list(pipeline(store, encoder, writer=writer).ingest(sources))
    assert [r.status for r in receipts] == ["created", "unchanged", "created"]
    assert [r.topics_added for r in receipts] == [(), ("second",), ()]
    assert writer.batches == [3]
    assert agrees(store, encoder)


def test_vectors_that_are_damaged_are_made_again_with_a_topic(
    store: EmbeddedStore, encoder: FakeEncoder, tmp_path: Path
) -> None:
    list(pipeline(store, encoder).ingest([paper("Text.", topics=["a"])]))
    with (tmp_path / "vectors-1.f32").open("r+b") as file:
        file.write(b"\0" * 8)
    assert not agrees(store, encoder)
    receipt = one(pipeline(store, encoder).ingest([paper("Text.", topics=["b"])]))
    assert (receipt.status, receipt.topics_added) == ("unchanged", ("b",))
    hits = store.dense.search(encoder.encode_question("Text"), 1, Filters(topic="b"))
    assert hits.distances[0] == pytest.approx(0, abs=1e-6)
    assert agrees(store, encoder)


def test_topics_of_two_ingests_at_once_add_up(store: EmbeddedStore, encoder: FakeEncoder) -> None:
    """Another ingest stores the same file under another topic while this one encodes it."""
    others = iter([paper("Text.", topics=["other"])])

    def meanwhile(_: str) -> None:
        for source in others:
            assert one(pipeline(store, encoder).ingest([source])).status == "created"

    slow = FakeEncoder(16, window=8, hook=meanwhile)
    receipt = one(pipeline(store, slow).ingest([paper("Text.", topics=["own"])]))
    assert (receipt.status, receipt.topics_added) == ("unchanged", ("own",))
    assert entry(store).topics == ("other", "own")
    assert store.reader.passages(["a#p0"])["a#p0"].topics == ("other", "own")
    assert agrees(store, encoder)


def test_what_another_ingest_stored_meanwhile_is_not_stored_again(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    others = iter([paper("Text.")])

    def meanwhile(_: str) -> None:
        for source in others:
            list(pipeline(store, encoder).ingest([source]))

    slow = FakeEncoder(16, window=8, hook=meanwhile)
    assert one(pipeline(store, slow).ingest([paper("Text.")])).status == "unchanged"
    assert agrees(store, encoder)


# Failures


def test_a_file_without_text_fails_alone(store: EmbeddedStore, encoder: FakeEncoder) -> None:
    sources = [paper("One."), paper(b"", paper_id="b"), paper(" \n\t ", paper_id="c")]
    receipts = {r.paper_id: r for r in pipeline(store, encoder).ingest(sources)}
    assert receipts["a"].status == "created"
    for paper_id in "bc":
        assert receipts[paper_id].status == "failed"
        assert receipts[paper_id].reason == "no text left after preprocessing"
        assert entry(store, SourceKey(paper_id, "paragraph")).state == "failed"
    assert agrees(store, encoder)


def test_a_problem_is_the_receipts_reason(store: EmbeddedStore, encoder: FakeEncoder) -> None:
    source = SourceInput(A, b"", ("t",), name="a.txt", problem="too large")
    receipt = one(pipeline(store, encoder).ingest([source]))
    assert (receipt.status, receipt.reason) == ("failed", "too large")
    assert (entry(store).state, entry(store).error) == ("failed", "too large")


def test_what_cannot_be_a_paper_is_not_in_the_ledger(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    key = SourceKey("no paper id", "paragraph")
    source = SourceInput(key, b"", ("t",), name="no paper id.txt", problem="paper id")
    assert one(pipeline(store, encoder).ingest([source])).status == "failed"
    assert store.ledger.get(key) is None


class FailsOnBad:
    """A preprocessor with a fault."""

    preprocessor_id = "paragraphs-v1"

    def __call__(self, text: str) -> list[str]:
        if "BAD" in text:
            raise ZeroDivisionError("of this text")
        return [text]


def test_the_older_version_is_served_while_a_newer_one_fails(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    ingest = pipeline(store, encoder, preprocessor=FailsOnBad()).ingest
    list(ingest([paper("good")]))
    failed = one(ingest([paper("BAD")]))
    assert (failed.status, failed.reason) == ("failed", "ZeroDivisionError: of this text")
    assert served(store) == ["good"]
    known = entry(store)
    assert (known.state, known.error) == ("complete", "ZeroDivisionError: of this text")
    assert agrees(store, encoder)


def test_a_failure_after_a_kill_keeps_the_topics_of_what_is_served(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    ingest = pipeline(store, encoder, preprocessor=FailsOnBad()).ingest
    list(ingest([paper("good", topics=["first"])]))
    store.ledger.record([replace(entry(store), state="pending")])
    assert one(ingest([paper("BAD", topics=["second"])])).status == "failed"
    assert one(ingest([paper("better", topics=["second"])])).status == "created"
    assert entry(store).topics == ("first", "second")


def test_taking_a_failed_version_back_clears_the_error(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    ingest = pipeline(store, encoder, preprocessor=FailsOnBad()).ingest
    list(ingest([paper("good")]))
    list(ingest([paper("BAD")]))
    assert one(ingest([paper("good")])).status == "unchanged"
    assert entry(store).error is None


def test_what_failed_is_tried_again(store: EmbeddedStore, encoder: FakeEncoder) -> None:
    failing = pipeline(store, encoder, preprocessor=FailsOnBad())
    for _ in range(2):
        assert one(failing.ingest([paper("BAD", topics=["wrong"])])).status == "failed"
    mended = pipeline(store, encoder)
    assert one(mended.ingest([paper("BAD", topics=["right"])])).status == "created"
    # Topics of a version that never was stored are not kept.
    assert entry(store).topics == ("right",)


# Batches


class Recording:
    """A writer that notes how many sources come together."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._writer = store.writer
        self.batches: list[int] = []
        self.exclusive = store.writer.exclusive
        self.delete = store.writer.delete
        self.counts = store.writer.counts
        self.vectors = store.writer.vectors

    def replace(self, sources: Sequence[EncodedSource]) -> None:
        self.batches.append(len(sources))
        self._writer.replace(sources)


def paragraphs(number: int) -> str:
    return "\n\n".join(f"infection {n}" for n in range(number))


def test_sources_are_stored_together_until_a_batch_is_full(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    """After the first batch of an encoder that takes no time."""
    half, almost = MAX_PASSAGES // 2, MAX_PASSAGES // 2 - 1
    numbers = [FIRST_PASSAGES - 1, 1, half, half, almost, almost, half]
    sources = [paper(paragraphs(n), paper_id=f"p{i}") for i, n in enumerate(numbers)]
    writer = Recording(store)
    still = Pace(clock=lambda: 0.0)
    receipts = list(pipeline(store, encoder, writer=writer, pace=still).ingest(sources))
    assert writer.batches == [2, 2, 3]
    assert [receipt.paper_id for receipt in receipts] == [f"p{i}" for i in range(7)]
    assert agrees(store, encoder)


def test_a_slow_encoders_batches_take_five_seconds(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    """The first 32 passages take 10 s, so the next batches have 16: these take half a second, and
    those after them 160."""
    seconds = iter([10.0, 0.5, 999.0, 999.0, 999.0])
    now = 0.0

    def take(_: str) -> None:
        nonlocal now
        now += next(seconds)

    slow = FakeEncoder(16, window=8, hook=take)
    writer = Recording(store)
    sources = [paper("infection", paper_id=f"p{n}") for n in range(32 + 16 + 160 + 2)]
    list(pipeline(store, slow, writer=writer, pace=Pace(clock=lambda: now)).ingest(sources))
    # However slow, a passage at a time.
    assert writer.batches == [32, 16, 160, 1, 1]


def test_a_source_larger_than_a_batch_is_stored(store: EmbeddedStore, encoder: FakeEncoder) -> None:
    text = paragraphs(2 * MAX_PASSAGES + 1)
    receipt = one(pipeline(store, encoder).ingest([paper(text)]))
    assert receipt.passages == 2 * MAX_PASSAGES + 1
    assert len(served(store)) == 2 * MAX_PASSAGES + 1


def test_one_source_twice_in_a_run_ends_as_the_later(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    list(pipeline(store, encoder).ingest([paper("One.\n\nTwo."), paper("Three.")]))
    assert served(store) == ["Three."]
    assert agrees(store, encoder)


# Stores that fail


class Failing(Recording):
    """A writer whose disk is full, or whose engine is away, from the second batch on."""

    def __init__(self, store: EmbeddedStore, error: Exception) -> None:
        super().__init__(store)
        self._error = error

    def replace(self, sources: Sequence[EncodedSource]) -> None:
        if self.batches:
            raise self._error
        super().replace(sources)


def three_batches() -> list[SourceInput]:
    text = paragraphs(MAX_PASSAGES)
    return [paper(text, paper_id=f"p{n}") for n in range(3)]


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        sqlite3.OperationalError("database or disk is full"),
        BackendUnavailable("engine", "No space left, disk is full"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_store_that_fails_stops_the_run_and_a_later_one_resumes(
    store: EmbeddedStore, encoder: FakeEncoder, error: Exception
) -> None:
    run = pipeline(store, encoder, writer=Failing(store, error)).ingest(three_batches())
    assert next(run).paper_id == "p0"
    with pytest.raises(BackendUnavailable, match=r"No space left|full"):
        next(run)
    assert entry(store, SourceKey("p0", "paragraph")).state == "complete"
    assert entry(store, SourceKey("p1", "paragraph")).state == "pending"
    resumed = [r.status for r in pipeline(store, encoder).ingest(three_batches())]
    assert resumed == ["unchanged", "created", "created"]
    assert agrees(store, encoder)


def test_an_encoder_that_fails_leaves_the_ledger_alone(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    list(pipeline(store, encoder).ingest([paper("old")]))
    before = entry(store)

    def away(_: str) -> None:
        raise BackendUnavailable("encoder", "away")

    broken = FakeEncoder(16, window=8, hook=away)
    with pytest.raises(BackendUnavailable, match="encoder: away"):
        list(pipeline(store, broken).ingest([paper("new")]))
    assert entry(store) == before


class Miscounting(Recording):
    """A writer one of whose legs lost a passage."""

    def __init__(self, store: EmbeddedStore, sparse: int, dense: int) -> None:
        super().__init__(store)
        self.counts = lambda keys: [StoredCounts(sparse, dense) for _ in keys]


@pytest.mark.parametrize(("sparse", "dense"), [(1, 2), (2, 1), (3, 2), (0, 0)])
def test_counts_that_disagree_fail_and_are_not_complete(
    store: EmbeddedStore, encoder: FakeEncoder, sparse: int, dense: int
) -> None:
    source = paper("One.\n\nTwo.")
    writer = Miscounting(store, sparse, dense)
    receipt = one(pipeline(store, encoder, writer=writer).ingest([source]))
    assert receipt.status == "failed"
    assert f"sparse index holds {sparse} and the dense one {dense}" in str(receipt.reason)
    assert entry(store).state != "complete"
    assert one(pipeline(store, encoder).ingest([source])).status == "created"


# Deleting


def test_deleting_a_paper_takes_all_its_sources(store: EmbeddedStore, encoder: FakeEncoder) -> None:
    figure = SourceInput(SourceKey("a", "figure", "1"), b"A caption.", ("t",))
    ingest = pipeline(store, encoder)
    list(ingest.ingest([paper("One."), figure, paper("Two.", paper_id="ab")]))
    assert ingest.delete("a") == 2
    assert ingest.delete("a") == 0
    assert served(store) == []
    assert served(store, "ab") == ["Two."]
    assert agrees(store, encoder)


class DiesAfterDelete(Recording):
    """The process ends between the stores and the ledger."""

    def __init__(self, store: EmbeddedStore) -> None:
        super().__init__(store)
        self.delete = self._delete

    def _delete(self, keys: Sequence[SourceKey]) -> None:
        self._writer.delete(keys)
        raise KeyboardInterrupt


def test_a_delete_that_was_cut_short_can_be_repeated(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    list(pipeline(store, encoder).ingest([paper("One.")]))
    with pytest.raises(KeyboardInterrupt):
        pipeline(store, encoder, writer=DiesAfterDelete(store)).delete("a")
    assert pipeline(store, encoder).delete("a") == 1
    assert store.ledger.get(A) is None
    assert agrees(store, encoder)


def test_a_deleted_paper_can_come_back(store: EmbeddedStore, encoder: FakeEncoder) -> None:
    ingest = pipeline(store, encoder)
    list(ingest.ingest([paper("One.", topics=["old"])]))
    ingest.delete("a")
    assert one(ingest.ingest([paper("One.", topics=["new"])])).status == "created"
    assert entry(store).topics == ("new",)


def test_an_edit_of_one_section_leaves_the_others_names(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    pages = pipeline(store, encoder, preprocessor=get_preprocessor("markdown-v1"))
    key = SourceKey("runbooks.Stall", "section")
    for last in ("Go.", "Wait.\n\n### Then\n\nGo."):
        text = f"## Steps\n\n{last}\n\n## Meaning\n\nIt stalls."
        assert one(pages.ingest([SourceInput(key, text.encode(), ("hq",))])).reason is None
        found = store.reader.passages(["runbooks.Stall#meaning"])["runbooks.Stall#meaning"]
        assert found.text == "Stall > Meaning\n\nIt stalls."
    assert agrees(store, encoder)


def test_sections_need_a_preprocessor_that_names_them(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    source = SourceInput(SourceKey("a", "section"), b"# A", ("hq",))
    receipt = one(pipeline(store, encoder).ingest([source]))
    assert receipt.status == "failed"
    assert "paragraphs-v1 does not make passages of type section" in str(receipt.reason)
