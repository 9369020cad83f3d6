"""Indexes and collections: made, checked, named. Versions stand behind aliases."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import elasticsearch as es

from askem.errors import BackendUnavailable, ConfigurationError, EncoderMismatch
from askem.stores.servers import mappings
from askem.stores.servers.elastic import BACKEND
from askem.stores.servers.names import SCHEMA_VERSION
from askem.stores.servers.versions import Versions, create_index


@dataclass(frozen=True, slots=True)
class Side:
    """One engine's half of the schema."""

    versions: tuple[int, ...]
    current: int | None
    """The version behind the alias."""
    meta: dict[str, Any]
    """schema_version, encoder_id and dimension of the current one."""
    count: int
    """Passages (Elasticsearch) or windows (Weaviate)."""


class Schema(Versions):
    """Both engines' halves, made, checked and compared."""

    def ensure(self) -> None:
        """Creates both sides where there is none yet, and checks whose they are."""
        if self.current_index() is None or self.current_collection() is None:
            self.create()
        self.check()

    def create(self) -> None:
        """Both sides at the same version behind their aliases. Safe to repeat."""
        index = self.current_index()
        version = self._names.version_of(index) if index else None
        version = version or self._next_version()
        self.create_version(version)
        self.create_common()
        if index is None:
            self.point_index(version)
        if self.current_collection() is None:
            self.point_collection(version)

    def check(self) -> None:
        """Raises EncoderMismatch or ConfigurationError where the engines' is not ours,
        BackendUnavailable where there is none."""
        self.check_index()
        self.check_collection()

    def check_index(self) -> str:
        """Elasticsearch's half of `check`; what is there, in a word."""
        return self._compare("Elasticsearch", self._index_meta())

    def check_collection(self) -> str:
        """Weaviate's half of `check`; what is there, in a word."""
        return self._compare("Weaviate", self._vectors())

    def probe_collection(self) -> str:
        """`check_collection`, and whether searches, which go another way, are answered."""
        found = self.check_collection()
        alias = self._names.collection_alias
        self._weaviate.read(
            lambda client: client.collections.use(alias).query.fetch_objects(limit=1)
        )
        return found

    def _compare(self, engine: str, meta: dict[str, Any]) -> str:
        stored = meta.get("encoder_id")
        if meta.get("schema_version") != SCHEMA_VERSION:
            raise ConfigurationError(
                f"{engine} has schema version {meta.get('schema_version')}, this Askem reads "
                f"{SCHEMA_VERSION}: run `askem schema migrate`"
            )
        if stored != self.encoder_id:
            raise EncoderMismatch(
                f"{engine}'s index was built with encoder {stored}, configured is "
                f"{self.encoder_id}: set ASKEM_ENCODER back, or another ASKEM_INDEX"
            )
        if meta.get("dimension") != self._dimension:
            raise EncoderMismatch(
                f"{engine}'s vectors have {meta.get('dimension')} dimensions, the encoder's "
                f"{self._dimension}"
            )
        return f"schema version {SCHEMA_VERSION}, {self._dimension} dimensions"

    def status(self) -> tuple[Side, Side]:
        """Elasticsearch's and Weaviate's."""
        return self._index_status(), self._collection_status()

    def prune(self) -> list[int]:
        """Deletes all versions but those behind the aliases; returns which."""
        sides = self.status()
        kept = {side.current for side in sides}
        if None in kept:
            raise BackendUnavailable(BACKEND, "one side has no alias: run `askem schema create`")
        dropped = sorted({n for side in sides for n in side.versions} - kept)
        for version in dropped:
            self.drop_version(version)
        return dropped

    def create_common(self) -> None:
        """The indexes of ledger and lease, which have no versions. Safe to repeat."""
        settings = {"number_of_shards": 1, "auto_expand_replicas": "0-1"}

        def work(client: es.Elasticsearch) -> None:
            create_index(client, self._names.ledger, mappings.ledger(), settings)
            create_index(client, self._names.lease, mappings.lease(), settings)

        self._elastic.write(work)

    def _next_version(self) -> int:
        elastic, vectors = self.status()
        return max((*elastic.versions, *vectors.versions), default=0) + 1

    def _index_meta(self) -> dict[str, Any]:
        answer = self._elastic.read(
            lambda client: client.indices.get_mapping(index=self._names.base).body
        )
        found = next(iter(answer.values()), None)
        if found is None:
            raise BackendUnavailable(BACKEND, "the index is missing: run `askem schema create`")
        meta: dict[str, Any] = found["mappings"].get("_meta", {})
        return meta

    def _vectors(self) -> dict[str, Any]:
        name = self.current_collection()
        if name is None:
            raise BackendUnavailable(
                "weaviate", "the collection is missing: run `askem schema create`"
            )
        description = self._weaviate.read(
            lambda client: client.collections.use(name).config.get(simple=True).description
        )
        meta: dict[str, Any] = json.loads(description or "{}")
        return meta

    def _index_status(self) -> Side:
        def versions(client: es.Elasticsearch) -> list[str]:
            return list(client.indices.get(index=f"{self._names.base}_v*").body)

        current = self.current_index()
        count = 0
        if current:
            count = self._elastic.read(lambda client: client.count(index=current))["count"]
        return Side(
            versions=self._numbers(self._elastic.read(versions)),
            current=self._names.version_of(current) if current else None,
            meta=self._index_meta() if current else {},
            count=count,
        )

    def _collection_status(self) -> Side:
        current = self.current_collection()
        count = 0
        if current:
            count = self._weaviate.read(lambda client: len(client.collections.use(current)))
        listed = self._weaviate.read(lambda client: list(client.collections.list_all()))
        return Side(
            versions=self._numbers(listed),
            current=self._names.version_of(current) if current else None,
            meta=self._vectors() if current else {},
            count=count,
        )

    def _numbers(self, names: list[str]) -> tuple[int, ...]:
        found = (self._names.version_of(name) for name in names)
        return tuple(sorted(version for version in found if version is not None))
