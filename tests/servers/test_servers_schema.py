"""Aliases that are lost or differ, and half a schema that is gone."""

from __future__ import annotations

import pytest

from askem.errors import SchemaUnfit
from askem.stores.servers import ServerStore
from askem.stores.servers.verify import ServerVerifier
from askem.testing.contract import make_source
from askem.testing.fakes import FakeEncoder

pytestmark = pytest.mark.servers


@pytest.fixture
def filled(store: ServerStore, encoder: FakeEncoder) -> ServerStore:
    store.writer.replace([make_source("a", ["infection model", "stages"], encoder)])
    return store


def lose_alias(store: ServerStore) -> None:
    names = store.names
    store.elastic.write(
        lambda c: c.indices.delete_alias(index=names.index(1), name=names.base).body
    )


def test_a_lost_alias_is_set_back(filled: ServerStore) -> None:
    lose_alias(filled)
    with pytest.raises(SchemaUnfit, match="askem schema create"):
        filled.schema.check_index()
    with pytest.raises(SchemaUnfit, match="its alias is missing"):
        filled.schema.probe_sides()
    assert filled.schema.create() == 1
    assert [(s.current, s.versions, s.count) for s in filled.schema.status()] == [(1, (1,), 2)] * 2
    assert filled.schema.probe_sides() == "version 1"


def test_an_ingest_sets_a_lost_alias_back(filled: ServerStore, encoder: FakeEncoder) -> None:
    lose_alias(filled)
    filled.writer.replace([make_source("b", ["transmission"], encoder)])
    assert [(s.current, s.versions, s.count) for s in filled.schema.status()] == [(1, (1,), 3)] * 2


def test_different_versions_are_refused_until_one_is_chosen(
    filled: ServerStore, encoder: FakeEncoder
) -> None:
    filled.schema.create_version(2)
    filled.schema.point_index(2)
    for work in (
        filled.schema.create,
        filled.schema.probe_sides,
        ServerVerifier(filled, encoder).repair,
        lambda: filled.writer.replace([make_source("b", ["transmission"], encoder)]),
    ):
        with pytest.raises(SchemaUnfit, match="create --version"):
            work()
    filled.schema.create(1)
    assert [(side.current, side.count) for side in filled.schema.status()] == [(1, 2), (1, 2)]


def test_vectors_that_are_gone_come_back_when_asked_for(
    filled: ServerStore, encoder: FakeEncoder
) -> None:
    name = filled.names.collection(1)
    filled.weaviate.write(lambda c: c.alias.delete(alias_name=filled.names.collection_alias))
    filled.weaviate.write(lambda c: c.collections.delete(name))
    with pytest.raises(SchemaUnfit, match="askem verify --repair"):
        filled.writer.replace([make_source("b", ["transmission"], encoder)])
    filled.schema.create()
    with pytest.raises(SchemaUnfit, match="2 passages, Weaviate 0 windows"):
        filled.schema.probe_sides()
    assert ServerVerifier(filled, encoder).repair().findings == []
    assert filled.schema.probe_sides() == "version 1"


def test_texts_that_are_gone_are_not_made_anew_beside_their_vectors(
    filled: ServerStore, encoder: FakeEncoder
) -> None:
    filled.elastic.write(lambda c: c.indices.delete(index=filled.names.index(1)).body)
    for work in (
        filled.schema.create,
        lambda: filled.writer.replace([make_source("b", ["transmission"], encoder)]),
    ):
        with pytest.raises(SchemaUnfit, match="Restore Elasticsearch's snapshot"):
            work()
    assert filled.schema.status()[1].count == 2
