"""Ingest into real engines: bulk faults, two ingesters, a lease that is lost, a repair."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.servers.faults import Faults, faulty_proxy

from askem.errors import BackendUnavailable, EncoderMismatch
from askem.ingestion import IngestPipeline
from askem.ingestion.pipeline import SourceInput
from askem.models import Filters, SourceKey
from askem.ports import StoredCounts
from askem.stores.servers import Endpoints, ServerStore
from askem.stores.servers.names import source_text
from askem.stores.servers.verify import ServerVerifier
from askem.testing.contract import contract_corpus, make_source
from askem.testing.fakes import FakeEncoder
from askem.text.preprocessing import get_preprocessor

pytestmark = pytest.mark.servers

OpenStore = Callable[..., ServerStore]


def pipeline(store: ServerStore, encoder: FakeEncoder) -> IngestPipeline:
    return IngestPipeline(
        encoder=encoder,
        writer=store.writer,
        ledger=store.ledger,
        preprocessor=get_preprocessor("paragraphs-v1"),
    )


def papers(count: int, version: str = "first") -> list[SourceInput]:
    text = "The infection model of paper {n}.\n\nIts {version} stages.\n\nTransmission {n}."
    return [
        SourceInput(
            SourceKey(f"paper{n:03}", "paragraph"),
            text.format(n=n, version=version).encode(),
            ("covid-19",),
        )
        for n in range(count)
    ]


def held(store: ServerStore) -> tuple[list[str], list[str]]:
    """Passage ids on both sides, once for every document or object."""
    store.writer.refresh()
    found = store.sparse.screen(["infect", "stage", "transmiss"], 1000, Filters()).passage_ids
    rows = [properties["passage_id"] for _, properties, _ in store.objects.walk(vectors=False)]
    return sorted(found), sorted(rows)


def test_bulk_faults(endpoints: Endpoints, open_store: OpenStore, encoder: FakeEncoder) -> None:
    """10 % of the items put off, 1 % refused, answers that never come after the work is done."""
    sources = papers(200)
    refused = frozenset(f"paper{n:03}#p1" for n in (7, 42, 77, 101, 102, 199))
    faults = Faults(later=0.1, refused=refused, late_every=4)
    with faulty_proxy(endpoints.elasticsearch_url, faults, hold_s=4.0) as url:
        spoiled = replace(endpoints, elasticsearch_url=url, write_timeout_s=2.0, timeout_s=5.0)
        store = open_store(encoder, spoiled)
        receipts = list(pipeline(store, encoder).ingest(sources))
    print(f"faults: {dict(faults.done)}")
    assert min(faults.done[kind] for kind in ("429", "400", "late")) > 0
    failed = {r.paper_id: r.reason or "" for r in receipts if r.status == "failed"}
    assert set(failed) == {key.partition("#")[0] for key in refused}
    assert all("spoiled" in reason and f"{p}#p1" in reason for p, reason in failed.items())
    wanted = sorted(
        f"{s.key.paper_id}#p{i}" for s in sources for i in range(3) if s.key.paper_id not in failed
    )
    sound = open_store(encoder)
    assert held(sound) == (wanted, wanted)
    states = Counter(entry.state for entry in sound.ledger.entries())
    assert states == {"complete": 194, "failed": 6}
    # What failed is done again, the rest is left alone.
    again = Counter(r.status for r in pipeline(sound, encoder).ingest(sources))
    assert again == {"unchanged": 194, "created": 6}
    assert ServerVerifier(sound, encoder).check().findings == []


def test_a_topic_is_added_without_encoding(open_store: OpenStore, encoder: FakeEncoder) -> None:
    def unused(_: str) -> None:
        raise AssertionError("nothing was to be encoded")

    sources = papers(3)
    long = b"An infection of " + b"many words that have no end " * 40
    sources.append(SourceInput(SourceKey("long", "paragraph"), long, ("covid-19",)))
    store = open_store(encoder)
    list(pipeline(store, encoder).ingest(sources))
    again = [replace(source, topics=("lombardy",)) for source in sources]
    receipts = list(pipeline(store, FakeEncoder(hook=unused)).ingest(again))
    assert {(r.status, r.topics, r.topics_added) for r in receipts} == {
        ("unchanged", ("covid-19", "lombardy"), ("lombardy",))
    }
    assert receipts[-1].split_passages == 1
    vector = encoder.encode_question("its first stages")
    for topic in ("covid-19", "lombardy"):
        filters = Filters(topic=topic)
        assert len(store.sparse.screen(["infect"], 100, filters).passage_ids) == 4
        assert len(store.dense.search(vector, 100, filters).passage_ids) == 10
    assert ServerVerifier(store, encoder).check().findings == []


def test_two_ingesters_at_once(open_store: OpenStore, encoder: FakeEncoder) -> None:
    sources = papers(150)
    receipts: list[str] = []
    errors: list[BaseException] = []

    def run(chosen: list[SourceInput]) -> None:
        try:
            store = open_store(encoder)
            receipts.extend(r.status for r in pipeline(store, encoder).ingest(chosen))
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    open_store(encoder).schema.create()
    threads = [threading.Thread(target=run, args=(s,)) for s in (sources, sources[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert Counter(receipts) == {"created": 150, "unchanged": 150}
    wanted = sorted(f"{s.key.paper_id}#p{i}" for s in sources for i in range(3))
    assert held(open_store(encoder)) == (wanted, wanted)


def test_a_lease_that_was_taken_over_is_noticed(
    open_store: OpenStore, encoder: FakeEncoder
) -> None:
    first, second = open_store(encoder), open_store(encoder)
    for store in (first, second):
        store.lease._ttl_s = 1.0
    first.schema.create()
    with first.writer.exclusive():
        # As in a process that was stopped: nothing renews any more.
        first.lease._done.set()
        with second.writer.exclusive():
            with pytest.raises(BackendUnavailable, match="lease was lost"):
                first.lease.check()
            second.lease.check()
    with first.writer.exclusive():
        first.lease.check()


def test_another_encoders_index_is_refused(open_store: OpenStore, encoder: FakeEncoder) -> None:
    open_store(encoder).writer.replace(contract_corpus(encoder))
    other = FakeEncoder(16)
    store = open_store(other)
    with pytest.raises(EncoderMismatch, match="fake-32"):
        store.writer.replace([make_source("a", ["infection"], other)])
    with pytest.raises(EncoderMismatch):
        store.dense.search(other.encode_question("infection"), 3, Filters())


def test_an_index_is_never_made_by_a_write(open_store: OpenStore, encoder: FakeEncoder) -> None:
    """A name without its alias would become an index with guessed types."""
    store = open_store(encoder)
    store.schema.create()
    store.schema.drop_version(1)
    with pytest.raises(BackendUnavailable):
        store.writer._write_texts({"a": make_source("a", ["infection"], encoder)})
    assert store.schema.current_index() is None


def test_repair_mends_either_side(store: ServerStore, encoder: FakeEncoder) -> None:
    sources = papers(20)
    list(pipeline(store, encoder).ingest(sources))
    verifier = ServerVerifier(store, encoder)
    assert verifier.check().findings == []
    # Weaviate lost one paper and holds a stale window of another and one that nobody knows.
    store.objects.delete_stale([source_text(SourceKey("paper003", "paragraph"))], [])
    ghost = make_source("ghost", ["nobody knows"], encoder)
    store.writer._write_vectors({"ghost": ghost})
    # Elasticsearch lost a passage, and another paper as a whole.
    index = store.names.base
    for key in ("paper005#p1", *(f"paper006#p{i}" for i in range(3))):
        store.elastic.write(lambda c, key=key: c.delete(index=index, id=key, refresh=True))  # type: ignore[misc]
    findings = "\n".join(verifier.check().findings)
    for name in ("paper003#p0", "ghost#p0", "paper005 paragraph", "paper006 paragraph"):
        assert name in findings
    verifier.repair()
    assert store.writer.counts([SourceKey("paper003", "paragraph")]) == [StoredCounts(3, 3)]
    assert store.objects.passages([source_text(SourceKey("ghost", "paragraph"))]) == {}
    # What Elasticsearch lost can only come from the file again.
    again = {r.paper_id: r.status for r in pipeline(store, encoder).ingest(sources)}
    assert {p for p, status in again.items() if status != "unchanged"} == {"paper005", "paper006"}
    report = verifier.check()
    assert report.findings == []
    assert (report.passages, report.dense) == (60, 60)
