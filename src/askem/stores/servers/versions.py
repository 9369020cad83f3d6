"""Versions of index and collection, and the aliases that name one of them."""

from __future__ import annotations

import json
from typing import Any

import elasticsearch as es
import weaviate

from askem.stores.servers import mappings
from askem.stores.servers.elastic import Elastic
from askem.stores.servers.names import SCHEMA_VERSION, Names
from askem.stores.servers.weaviate import Weaviate


class Versions:
    def __init__(
        self,
        elastic: Elastic,
        client: Weaviate,
        names: Names,
        *,
        encoder_id: str,
        dimension: int,
    ) -> None:
        self._elastic = elastic
        self._weaviate = client
        self._names = names
        self.encoder_id = encoder_id
        self._dimension = dimension

    def create_version(self, version: int) -> None:
        """An index and a collection without alias. Safe to repeat."""
        meta = {
            "schema_version": SCHEMA_VERSION,
            "encoder_id": self.encoder_id,
            "dimension": self._dimension,
        }
        index, collection = self._names.index(version), self._names.collection(version)

        def make_index(client: es.Elasticsearch) -> None:
            create_index(client, index, mappings.passages(meta), mappings.settings())

        def make_collection(client: weaviate.WeaviateClient) -> None:
            if not client.collections.exists(collection):
                client.collections.create(
                    collection,
                    description=json.dumps(meta),
                    properties=mappings.properties(),
                    vector_config=mappings.vectors(),
                )

        self._elastic.write(make_index)
        self._weaviate.write(make_collection)

    def drop_version(self, version: int) -> None:
        index, collection = self._names.index(version), self._names.collection(version)
        self._elastic.write(
            lambda client: client.indices.delete(index=index, ignore_unavailable=True)
        )
        self._weaviate.write(lambda client: client.collections.delete(collection))

    def point_index(self, version: int) -> None:
        """The alias names this version from now on: one atomic change."""
        old, alias = self.current_index(), self._names.base
        actions: list[dict[str, Any]] = [
            {"add": {"index": self._names.index(version), "alias": alias, "is_write_index": True}}
        ]
        if old and old != self._names.index(version):
            actions.insert(0, {"remove": {"index": old, "alias": alias}})
        self._elastic.write(lambda client: client.indices.update_aliases(actions=actions))

    def point_collection(self, version: int) -> None:
        alias, target = self._names.collection_alias, self._names.collection(version)

        def work(client: weaviate.WeaviateClient) -> None:
            if client.alias.get(alias_name=alias) is None:
                client.alias.create(alias_name=alias, target_collection=target)
            else:
                client.alias.update(alias_name=alias, new_target_collection=target)

        self._weaviate.write(work)

    def current_index(self) -> str | None:
        """The index behind the alias. Raises BackendUnavailable."""

        def work(client: es.Elasticsearch) -> str | None:
            try:
                return next(iter(client.indices.get_alias(name=self._names.base).body), None)
            except es.NotFoundError:
                return None

        return self._elastic.read(work)

    def current_collection(self) -> str | None:
        def work(client: weaviate.WeaviateClient) -> str | None:
            found = client.alias.get(alias_name=self._names.collection_alias)
            return found.collection if found else None

        return self._weaviate.read(work)


def create_index(
    client: es.Elasticsearch, index: str, mapping: dict[str, Any], settings: dict[str, Any]
) -> None:
    """Makes an index where there is none."""
    if client.indices.exists(index=index):
        return
    try:
        client.indices.create(index=index, mappings=mapping, settings=settings)
    except es.BadRequestError as error:
        if error.error != "resource_already_exists_exception":
            raise
