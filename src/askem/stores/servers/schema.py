"""Indexes and collections: made, checked, named. Versions stand behind aliases."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import elasticsearch as es
import weaviate

from askem.errors import ConfigurationError, EncoderMismatch, InvalidInput, SchemaUnfit
from askem.stores.servers import mappings
from askem.stores.servers.elastic import BACKEND
from askem.stores.servers.names import SCHEMA_VERSION
from askem.stores.servers.sides import Side, agree, chosen
from askem.stores.servers.versions import Versions, create_index


class Schema(Versions):
    """Both engines' halves, made, checked and compared."""

    def ensure(self) -> None:
        """Creates both sides where nothing is, sets lost aliases back, and checks whose they are.

        Raises what `create` and `check` raise, and SchemaUnfit where Elasticsearch holds passages
        and Weaviate has nothing: an empty half beside it is made when somebody asks for it.
        """
        index, collection = self.current_index(), self.current_collection()
        if index is None or collection is None:
            elastic, vectors = self.status()
            version = chosen(elastic, vectors)
            if elastic.held.get(version) and version not in vectors.held:
                raise SchemaUnfit(
                    "weaviate",
                    f"what it held is gone: {elastic}; {vectors}. Run `askem schema create`, then "
                    "`askem verify --repair`, which encodes all again",
                )
            self.create(version)
        self.check()

    def create(self, version: int | None = None) -> int:
        """Both sides at the same version behind their aliases; returns which. Safe to repeat.

        With `version` both aliases are moved to it. Without it they stay, are set back to what
        holds data, or begin with version 1. Raises SchemaUnfit where that is not clear, and
        InvalidInput for a version that Elasticsearch has not, but for the first.
        """
        elastic, vectors = self.status()
        if version is None:
            version = chosen(elastic, vectors)
        elif elastic.versions and version not in elastic.held:
            raise InvalidInput("version", f"{elastic}")
        self.create_version(version)
        self.create_common()
        if elastic.current != version:
            self.point_index(version)
        if vectors.current != version:
            self.point_collection(version)
        return version

    def check(self) -> None:
        """Raises EncoderMismatch or ConfigurationError where the engines' is not ours, SchemaUnfit
        where there is none, or the sides are on different versions."""
        agree(*self._current())
        self.check_index()
        self.check_collection()

    def probe_sides(self) -> str:
        """That both aliases name one version, and that neither side is empty beside the other.
        Raises SchemaUnfit."""
        index, collection = self._current()
        agree(index, collection)
        base, alias = self._names.base, self._names.collection_alias
        passages = self._elastic.read(lambda client: client.count(index=base))["count"]
        windows = self._weaviate.read(lambda client: len(client.collections.use(alias)))
        if bool(passages) != bool(windows):
            raise SchemaUnfit(
                "schema",
                f"Elasticsearch holds {passages} passages, Weaviate {windows} windows: see "
                "`askem verify`",
            )
        return f"version {index}"

    def _current(self) -> tuple[int | None, int | None]:
        """The versions behind Elasticsearch's and Weaviate's alias."""
        index, collection = self.current_index(), self.current_collection()
        return (
            self._names.version_of(index) if index else None,
            self._names.version_of(collection) if collection else None,
        )

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
        agree(*(side.current for side in sides))
        kept = {side.current for side in sides}
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

    def _index_meta(self) -> dict[str, Any]:
        answer = self._elastic.read(
            lambda client: client.indices.get_mapping(index=self._names.base).body
        )
        found = next(iter(answer.values()), None)
        if found is None:
            raise SchemaUnfit(BACKEND, "the index is missing: run `askem schema create`")
        meta: dict[str, Any] = found["mappings"].get("_meta", {})
        return meta

    def _vectors(self) -> dict[str, Any]:
        name = self.current_collection()
        if name is None:
            raise SchemaUnfit("weaviate", "the collection is missing: run `askem schema create`")
        description = self._weaviate.read(
            lambda client: client.collections.use(name).config.get(simple=True).description
        )
        meta: dict[str, Any] = json.loads(description or "{}")
        return meta

    def _index_status(self) -> Side:
        def held(client: es.Elasticsearch, index: str) -> int:
            return int(client.count(index=index)["count"])

        current = self.current_index()
        numbers = self.index_versions()
        return Side(
            engine="Elasticsearch",
            unit="passages",
            held={
                n: self._elastic.read(partial(held, index=self._names.index(n))) for n in numbers
            },
            current=self._names.version_of(current) if current else None,
            meta=self._index_meta() if current else {},
        )

    def _collection_status(self) -> Side:
        def held(client: weaviate.WeaviateClient, name: str) -> int:
            return len(client.collections.use(name))

        current = self.current_collection()
        numbers = self._collection_versions()
        return Side(
            engine="Weaviate",
            unit="windows",
            held={
                n: self._weaviate.read(partial(held, name=self._names.collection(n)))
                for n in numbers
            },
            current=self._names.version_of(current) if current else None,
            meta=self._vectors() if current else {},
        )

    def index_versions(self) -> tuple[int, ...]:
        """Elasticsearch's, without asking what they hold."""
        pattern = f"{self._names.base}_v*"
        return self._numbers(
            self._elastic.read(lambda client: list(client.indices.get(index=pattern).body))
        )

    def _collection_versions(self) -> tuple[int, ...]:
        return self._numbers(
            self._weaviate.read(lambda client: list(client.collections.list_all()))
        )

    def _numbers(self, names: list[str]) -> tuple[int, ...]:
        found = (self._names.version_of(name) for name in names)
        return tuple(sorted(version for version in found if version is not None))
