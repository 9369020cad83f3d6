"""The two halves of a schema, and which version both must be on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from askem.errors import SchemaUnfit


@dataclass(frozen=True, slots=True)
class Side:
    """One engine's half of the schema."""

    engine: str
    """As people write it."""
    unit: str
    """What is counted: `passages` or `windows`."""
    held: Mapping[int, int]
    """How many of them each version holds."""
    current: int | None
    """The version behind the alias."""
    meta: Mapping[str, Any]
    """schema_version, encoder_id and dimension of the current one."""

    @property
    def versions(self) -> tuple[int, ...]:
        return tuple(sorted(self.held))

    @property
    def count(self) -> int:
        """What the current version holds."""
        return 0 if self.current is None else self.held.get(self.current, 0)

    def __str__(self) -> str:
        alias = "no alias" if self.current is None else f"its alias on version {self.current}"
        held = ", ".join(f"version {n} with {self.held[n]} {self.unit}" for n in self.versions)
        return f"{self.engine} has {alias} and {held or 'no version'}"


def chosen(elastic: Side, vectors: Side) -> int:
    """The version that both aliases are to name: the one that they or one of them name already,
    without any the newest that holds something on both sides, then in Elasticsearch; 1 where there
    is nothing.

    Raises SchemaUnfit where that would leave what a side holds behind, naming what was found.
    """
    if elastic.current is not None and elastic.current == vectors.current:
        return elastic.current
    pointed = [side.current for side in (elastic, vectors) if side.current is not None]
    if len(pointed) > 1:
        raise _unclear("the aliases name different versions", elastic, vectors)
    version = pointed[0] if pointed else _newest(elastic, vectors)
    for side in (elastic, vectors):
        if not side.held.get(version) and any(side.held.values()):
            raise _unclear(f"{side.engine} holds nothing in version {version}", elastic, vectors)
    if vectors.held.get(version) and not elastic.held.get(version):
        raise SchemaUnfit(
            "elasticsearch",
            f"what it held is gone: {elastic}; {vectors}. Restore Elasticsearch's snapshot; or "
            "delete Weaviate's collection and ingest everything again",
        )
    return version


def _newest(elastic: Side, vectors: Side) -> int:
    full = {n for n, count in elastic.held.items() if count}
    both = {n for n in full if vectors.held.get(n)}
    found = both or full or {n for n, count in vectors.held.items() if count}
    if not found:
        return max((*elastic.versions, *vectors.versions), default=1)
    newest = max(found)
    if any(elastic.held.get(n, 0) > elastic.held.get(newest, 0) for n in found):
        # Perhaps a migration that was cut short.
        raise _unclear("the newest version holds less than an older one", elastic, vectors)
    return newest


def _unclear(what: str, elastic: Side, vectors: Side) -> SchemaUnfit:
    return SchemaUnfit(
        "schema",
        f"{what}: {elastic}; {vectors}. Point both aliases at the version that is whole: "
        "`askem schema create --version N`",
    )


def agree(index: int | None, collection: int | None) -> None:
    """Raises SchemaUnfit unless both aliases name the same version."""
    for backend, version in (("elasticsearch", index), ("weaviate", collection)):
        if version is None:
            raise SchemaUnfit(backend, "its alias is missing: run `askem schema create`")
    if index != collection:
        raise SchemaUnfit(
            "schema",
            f"Elasticsearch's alias names version {index}, Weaviate's version {collection}: see "
            "`askem schema status`, then `askem schema create --version N`",
        )
