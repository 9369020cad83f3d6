"""What somebody else put beside our passages, and repairs that would empty a side."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest

from askem.errors import BackendUnavailable, CorruptStore
from askem.models import Filters, SourceKey
from askem.ports import StoredCounts
from askem.stores.servers import Endpoints, ServerStore
from askem.stores.servers.migrate import migrate
from askem.stores.servers.names import source_text
from askem.stores.servers.verify import ServerVerifier
from askem.testing.contract import make_source
from askem.testing.fakes import FakeEncoder

pytestmark = pytest.mark.servers

KEY = SourceKey("a", "paragraph")
DOCUMENTS: list[dict[str, Any]] = [
    {},
    {"text": "infection", "paper_id": "a", "passage_id": "a#p0"},
    {"text": "infection", "paper_id": "a", "source": "no source"},
]
OBJECTS: list[dict[str, Any]] = [
    {"text": "infection"},
    {"source": source_text(KEY), "passage_id": "a#p0", "paper_id": "a"},
    {"source": source_text(KEY), "passage_id": "a#p0", "revision": "x", "window": 0, "order": 0},
]


@pytest.fixture
def filled(store: ServerStore, encoder: FakeEncoder) -> ServerStore:
    texts = [f"infection model, stage {n}" for n in range(8)]
    store.writer.replace([make_source("a", texts, encoder)])
    return store


def put_document(store: ServerStore, key: str, document: dict[str, Any]) -> None:
    base = store.names.base
    store.elastic.write(lambda c: c.index(index=base, id=key, document=document, refresh=True))


def put_object(store: ServerStore, properties: dict[str, Any]) -> str:
    key, vector = str(uuid.uuid4()), [1.0] * 32
    alias = store.names.collection_alias
    store.weaviate.write(
        lambda c: c.collections.use(alias).data.insert(properties, uuid=key, vector=vector)
    )
    return key


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_foreign_document_is_named_and_removed(
    filled: ServerStore, encoder: FakeEncoder, document: dict[str, Any]
) -> None:
    put_document(filled, "foreign1", document)
    verifier = ServerVerifier(filled, encoder)
    assert "foreign1: in Elasticsearch, but not written by Askem" in verifier.check().findings
    assert len(filled.reader.paper_passages("a", limit=99, offset=0)) == 8
    assert filled.reader.passages(["foreign1"]) == {}
    assert [paper.paper_id for paper in filled.reader.papers(topic=None, after=None, limit=9)] == [
        "a"
    ]
    with pytest.raises(CorruptStore, match="foreign1"):
        migrate(filled)
    assert verifier.repair().findings == []
    assert filled.reader.snapshot().passages == 8


@pytest.mark.parametrize("properties", OBJECTS)
def test_a_foreign_object_is_named_and_removed(
    filled: ServerStore, encoder: FakeEncoder, properties: dict[str, Any]
) -> None:
    key = put_object(filled, properties)
    assert filled.writer.counts([KEY]) == [StoredCounts(8, 8)]
    assert len(filled.writer.vectors(KEY) or []) == 8
    verifier = ServerVerifier(filled, encoder)
    assert f"{key}: in Weaviate, but not written by Askem" in verifier.check().findings
    with pytest.raises(CorruptStore, match=key):
        migrate(filled)
    assert verifier.repair().findings == []
    assert (
        len(filled.dense.search(encoder.encode_question("model"), 99, Filters()).passage_ids) == 8
    )


def test_a_repair_that_would_empty_a_side_stops(filled: ServerStore, encoder: FakeEncoder) -> None:
    base = filled.names.base
    for n in range(5):
        filled.elastic.write(lambda c, n=n: c.delete(index=base, id=f"a#p{n}", refresh=True))  # type: ignore[misc]
    with pytest.raises(CorruptStore, match="delete 5 of 8 from Weaviate"):
        ServerVerifier(filled, encoder).repair()
    assert filled.writer.counts([KEY]) == [StoredCounts(3, 8)]
    ServerVerifier(filled, encoder, delete_most=True).repair()
    assert filled.writer.counts([KEY]) == [StoredCounts(3, 3)]


def test_a_key_that_may_not_write_is_named_before_anything_is_written(
    filled: ServerStore, encoder: FakeEncoder, endpoints: Endpoints, weaviate_read_key: str
) -> None:
    reading = replace(endpoints, weaviate_api_key=weaviate_read_key)
    source = make_source("b", ["transmission"], encoder)
    with ServerStore.open(reading, encoder, index=filled.names.base) as store:
        with pytest.raises(BackendUnavailable, match="check WEAVIATE_APIKEY"):
            store.writer.replace([source])
        with pytest.raises(BackendUnavailable, match="check WEAVIATE_APIKEY"):
            store.writer._write_vectors({source_text(source.key): source})
    assert filled.writer.counts([source.key]) == [StoredCounts(0, 0)]


def test_a_read_only_index_is_named(filled: ServerStore, encoder: FakeEncoder) -> None:
    index = filled.names.index(1)

    def block(value: bool | None) -> None:
        settings = {"index.blocks.read_only_allow_delete": value}
        filled.elastic.write(lambda c: c.indices.put_settings(index=index, settings=settings).body)

    block(True)
    with pytest.raises(BackendUnavailable, match=r"read-only \(disk full\?\)"):
        filled.writer.replace([make_source("b", ["transmission"], encoder)])
    block(None)
