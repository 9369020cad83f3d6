"""Do both engines and the ledger hold the same, and mending it where they do not.

Elasticsearch's text is the truth: vectors that are missing or stale are encoded again from it,
terms that are missing too. What only Weaviate holds is deleted. Sources that are incomplete in
Elasticsearch are marked in the ledger, so that their file is ingested again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from askem.errors import CorruptStore
from askem.models import Passage, SourceKey
from askem.ports import Encoder, LedgerEntry
from askem.stores.report import VerifyReport
from askem.stores.servers.bulk import Action
from askem.stores.servers.documents import passage_windows
from askem.stores.servers.names import source_key
from askem.stores.servers.ours import our_document
from askem.stores.servers.reader import passage_of
from askem.stores.servers.scan import scan

if TYPE_CHECKING:
    from askem.stores.servers.store import ServerStore

_LISTED = 20
_CHUNK = 256


@dataclass(frozen=True, slots=True)
class _Text:
    """A passage as Elasticsearch holds it."""

    passage: Passage
    source: str
    revision: str
    content_hash: str
    windows: int
    updated_at: str


@dataclass(frozen=True, slots=True)
class _State:
    """Everything that both engines and the ledger hold."""

    texts: dict[str, _Text]
    vectors: dict[str, tuple[str, str, int, int]]
    ledger: dict[SourceKey, LedgerEntry]
    foreign_texts: list[str]
    """Ids of documents that are not ours."""
    foreign_objects: list[str]

    @property
    def unsound(self) -> list[str]:
        """Passages whose vectors are missing, incomplete or of another revision."""
        return [key for key, text in self.texts.items() if not self._sound(text)]

    @property
    def extra(self) -> list[str]:
        """Passages that only Weaviate has."""
        return sorted(set(self.vectors) - set(self.texts))

    def _sound(self, text: _Text) -> bool:
        held = self.vectors.get(text.passage.passage_id)
        return held == (text.source, text.revision, text.windows, text.windows)


class ServerVerifier:
    def __init__(self, store: ServerStore, encoder: Encoder, *, delete_most: bool = False) -> None:
        """`delete_most`: a repair may delete more than half of what an engine holds."""
        self._store = store
        self._encoder = encoder
        self._delete_most = delete_most

    def check(self) -> VerifyReport:
        """Compares everything with everything; changes nothing, keeps writers out meanwhile."""
        with self._store.writer.exclusive():
            state = self._state()
        unsound, extra = state.unsound, state.extra
        return VerifyReport(
            sources=len({text.source for text in state.texts.values()}),
            passages=len(state.texts),
            sparse=len(state.texts),
            dense=len(state.texts) - len(unsound),
            findings=[
                *_named("vectors are missing or stale in Weaviate", unsound),
                *_named("in Weaviate, but not in Elasticsearch", extra),
                *_named("in Elasticsearch, but not written by Askem", state.foreign_texts),
                *_named("in Weaviate, but not written by Askem", state.foreign_objects),
                *(finding for finding, _ in self._ledger_differences(state)),
            ],
        )

    def repair(self) -> VerifyReport:
        """Mends what `check` would find and checks again. Safe to interrupt and repeat.

        Raises CorruptStore, with nothing changed, where more than half of what either side holds
        would be deleted: more likely the other side is the one that is wrong.
        """
        with self._store.writer.exclusive():
            state = self._state()
            if not self._delete_most:
                _refuse_to_empty(state)
            unsound = state.unsound
            for start in range(0, len(unsound), _CHUNK):
                self._encode_again([state.texts[key] for key in unsound[start : start + _CHUNK]])
            self._store.objects.delete_passages(state.extra)
            self._store.objects.delete_windows(state.foreign_objects)
            base = self._store.names.base
            self._store.bulk.run([Action(base, key, alias=True) for key in state.foreign_texts])
            self._store.ledger.record([entry for _, entry in self._ledger_differences(state)])
        return self.check()

    def _encode_again(self, texts: list[_Text]) -> None:
        vectors = self._encoder.encode_passages([text.passage.text for text in texts])
        self._store.objects.delete_passages([text.passage.passage_id for text in texts])
        objects = [
            window
            for text, arrays in zip(texts, vectors, strict=True)
            for window in passage_windows(text.passage, arrays, text.source, text.revision)
        ]
        self._store.objects.delete_windows([window.uuid for window in objects])
        self._store.objects.write(objects)

    def _state(self) -> _State:
        self._store.writer.refresh()
        texts, foreign = {}, []
        for hit in scan(self._store.elastic, self._store.names):
            key, held = hit["_id"], hit["_source"]
            if our_document(key, held):
                texts[key] = _text(held)
            else:
                foreign.append(key)
        vectors, foreign_objects = self._store.objects.everything()
        ledger = {entry.key: entry for entry in self._store.ledger.entries()}
        return _State(texts, vectors, ledger, foreign, foreign_objects)

    def _ledger_differences(self, state: _State) -> Iterator[tuple[str, LedgerEntry]]:
        """What is wrong with an entry, and the entry that would be right."""
        stored: dict[SourceKey, list[_Text]] = defaultdict(list)
        for text in state.texts.values():
            stored[source_key(text.source)].append(text)
        for key, entry in state.ledger.items():
            held = stored.pop(key, [])
            name = f"{key.paper_id} {key.doc_type} {key.cosmos_object_id}".strip()
            if not held:
                if entry.state != "failed" and entry.passages:
                    reason = "not stored; ingest its file again"
                    gone = replace(entry, state="failed", passages=0, windows=0, error=reason)
                    yield f"{name}: the ledger says {entry.state}, {reason}", gone
            elif not _agrees(entry, held):
                reason = f"{len(held)} of {entry.passages} passages stored; ingest its file again"
                stale = replace(entry, state="failed", error=reason)
                if entry != stale:
                    yield f"{name}: {reason}", stale
        for key, held in stored.items():
            name = f"{key.paper_id} {key.doc_type} {key.cosmos_object_id}".strip()
            yield f"{name}: stored, but not in the ledger", self._entry(key, held)

    def _entry(self, key: SourceKey, held: list[_Text]) -> LedgerEntry:
        first = held[0]
        return LedgerEntry(
            key=key,
            state="complete",
            content_hash=first.content_hash,
            preprocessor_id=first.passage.preprocessor_id,
            encoder_id=self._encoder.encoder_id,
            topics=first.passage.topics,
            passages=len(held),
            windows=sum(text.windows for text in held),
            updated_at=first.updated_at,
        )


def _refuse_to_empty(state: _State) -> None:
    """Raises CorruptStore where too much would be deleted."""
    texts, objects = state.foreign_texts, state.foreign_objects
    sides = (
        ("Elasticsearch", len(texts), len(state.texts) + len(texts)),
        ("Weaviate", len(state.extra) + len(objects), len(state.vectors) + len(objects)),
    )
    for engine, deleted, held in sides:
        if 2 * deleted > held:
            raise CorruptStore(
                f"the repair would delete {deleted} of {held} from {engine}, and changed nothing: "
                f"Elasticsearch has {len(state.texts)} passages, Weaviate {len(state.vectors)}. "
                "See `askem schema status`; if Elasticsearch is right, "
                "`askem verify --repair --delete-most`"
            )


def _agrees(entry: LedgerEntry, held: list[_Text]) -> bool:
    """Whether what is stored is one version, and the entry's."""
    return (
        entry.state == "complete"
        and len({text.revision for text in held}) == 1
        and len(held) == entry.passages
        and held[0].content_hash == entry.content_hash
        and held[0].passage.topics == tuple(sorted(entry.topics))
    )


def _text(hit: dict[str, Any]) -> _Text:
    return _Text(
        passage=passage_of(hit),
        source=hit["source"],
        revision=hit["revision"],
        content_hash=hit["content_hash"],
        windows=hit["windows"],
        updated_at=hit["updated_at"],
    )


def _named(what: str, passage_ids: list[str]) -> Iterator[str]:
    for passage_id in passage_ids[:_LISTED]:
        yield f"{passage_id}: {what}"
    if len(passage_ids) > _LISTED:
        yield f"and {len(passage_ids) - _LISTED} more: {what}"
