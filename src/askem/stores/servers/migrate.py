"""Copying a corpus into a new version and pointing the aliases at it, while it is in use.

First everything is copied while writers go on; then, with writers kept out, what changed meanwhile
is copied too, and the aliases are moved. Readers are never without an answer: until the moment of
the change they ask the old version, afterwards the new one, which holds the same.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import elasticsearch as es

from askem.errors import CorruptStore
from askem.stores.servers.bulk import Action
from askem.stores.servers.documents import Window
from askem.stores.servers.ours import our_document, our_object
from askem.stores.servers.scan import scan
from askem.stores.servers.terms import pack, words
from askem.text.analysis import tokens

if TYPE_CHECKING:
    from askem.stores.servers.store import ServerStore

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Migration:
    """What was done."""

    old: int
    new: int
    passages: int
    windows: int
    changed_meanwhile: int
    """Sources that writers changed during the copy."""


def migrate(
    store: ServerStore, *, drop_old: bool = False, copied: Callable[[], None] = lambda: None
) -> Migration:
    """Into the next version. Safe to interrupt and repeat: a half-made version is begun anew.

    `copied` is called between the copy and the change. Raises BackendUnavailable, and
    CorruptStore where the copy does not hold what the old version holds; nothing is changed then.
    """
    store.schema.ensure()
    elastic, vectors = store.schema.status()
    old = elastic.current
    if old is None or vectors.current is None:
        raise CorruptStore("there is nothing to migrate: run `askem schema create`")
    new = max(*elastic.versions, *vectors.versions) + 1
    for version in elastic.versions + vectors.versions:
        if version > old:
            # Left by a migration that was cut short.
            store.schema.drop_version(version)
    store.schema.create_version(new)
    copy = _Copy(store, vectors.current, old, new)
    copy.texts(None)
    copy.objects(None)
    copied()
    with store.writer.exclusive():
        changed = copy.differences()
        copy.again(changed)
        passages, windows = copy.counted()
        store.schema.point_index(new)
        store.schema.point_collection(new)
    if drop_old:
        store.schema.drop_version(old)
    return Migration(old, new, passages, windows, len(changed))


class _Copy:
    def __init__(self, store: ServerStore, old_objects: int, old: int, new: int) -> None:
        names = store.names
        self._store = store
        self._old, self._new = names.index(old), names.index(new)
        self._from, self._into = names.collection(old_objects), names.collection(new)

    def texts(self, sources: Iterable[str] | None) -> None:
        """Copies documents: all, or those of some sources."""
        query = None if sources is None else {"terms": {"source": list(sources)}}
        found = scan(self._store.elastic, self._store.names, index=self._old, query=query)
        for part in _parts(found):
            self._store.bulk.run([_again(self._new, hit) for hit in part])
        self._refresh()

    def objects(self, sources: set[str] | None) -> None:
        """Copies objects with their vectors: all, or those of some sources."""
        walked = self._store.objects.walk(vectors=True, collection=self._from)
        windows = (
            Window(_known(uuid, held), _whole(held), vector)
            for uuid, held, vector in walked
            if sources is None or held["source"] in sources
        )
        for part in _parts(windows):
            refused = self._store.objects.write(part, self._into)
            if refused:
                raise CorruptStore(f"the new version refuses objects: {refused}")

    def differences(self) -> set[str]:
        """Sources that the new version has not as the old one has them."""
        self._refresh()
        return _different(self._texts(self._old), self._texts(self._new)) | _different(
            self._objects(self._from), self._objects(self._into)
        )

    def again(self, sources: set[str]) -> None:
        """Removes these sources from the new version and copies them once more."""
        if not sources:
            return
        wanted = {"terms": {"source": sorted(sources)}}
        found = scan(self._store.elastic, self._store.names, index=self._new, query=wanted)
        stale = [Action(self._new, hit["_id"]) for hit in found]
        self._store.bulk.run(stale)
        self._store.objects.delete_stale(sorted(sources), [], self._into)
        self.texts(sources)
        self.objects(sources)

    def counted(self) -> tuple[int, int]:
        """Passages and windows of the new version. Raises CorruptStore where they differ."""
        if self.differences():
            raise CorruptStore("the new version does not hold what the old one holds: run again")
        texts, objects = self._texts(self._new), self._objects(self._into)
        return sum(map(len, texts.values())), sum(map(len, objects.values()))

    def _texts(self, index: str) -> dict[str, set[tuple[str, str]]]:
        """Passage ids with their revisions, by source."""
        found: dict[str, set[tuple[str, str]]] = defaultdict(set)
        fields = ["source", "revision"]
        for hit in scan(self._store.elastic, self._store.names, index=index, fields=fields):
            held = hit["_source"]
            found[held.get("source", "")].add((hit["_id"], held.get("revision", "")))
        return found

    def _objects(self, collection: str) -> dict[str, set[tuple[str, str]]]:
        found: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for uuid, held, _ in self._store.objects.walk(vectors=False, collection=collection):
            _known(uuid, held)
            name = f"{held['passage_id']} {int(held['window'])}"
            found[held["source"]].add((name, held["revision"]))
        return found

    def _refresh(self) -> None:
        for index in (self._old, self._new):
            self._store.elastic.write(partial(_refresh, index))


def _refresh(index: str, client: es.Elasticsearch) -> None:
    client.indices.refresh(index=index)


def _different(
    old: dict[str, set[tuple[str, str]]], new: dict[str, set[tuple[str, str]]]
) -> set[str]:
    return {source for source in {*old, *new} if old.get(source) != new.get(source)}


def _foreign(key: str) -> CorruptStore:
    return CorruptStore(f"{key} was not written by Askem: run `askem verify --repair` first")


def _known(uuid: str, held: dict[str, Any]) -> str:
    """The object's id. Raises CorruptStore where it is not ours."""
    if not our_object(uuid, held):
        raise _foreign(uuid)
    return uuid


def _again(index: str, hit: dict[str, Any]) -> Action:
    """What is not kept comes from the text again, by today's analyzer. Raises CorruptStore for
    what is not ours."""
    source = hit["_source"]
    if not our_document(hit["_id"], source):
        raise _foreign(hit["_id"])
    found = tokens(source["text"])
    body = {**source, "length": len(found), "tokens": words(found), "token_numbers": pack(found)}
    return Action(index, source["passage_id"], json.dumps(body).encode())


def _whole(held: dict[str, Any]) -> dict[str, Any]:
    """Properties without those that are not set."""
    return {name: value for name, value in held.items() if value is not None}


def _parts(items: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(items)
    while part := list(islice(rest, _CHUNK)):
        yield part
