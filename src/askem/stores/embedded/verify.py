"""Does everything in the data folder agree, and mending it where it does not.

SQLite is the truth. The sparse index is rebuilt from it, vectors are encoded again from its
texts, and the ledger is made to say what is stored.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import tantivy

from askem.clock import utc_now
from askem.errors import CorruptStore
from askem.models import SourceKey
from askem.ports import Encoder, LedgerEntry
from askem.stores.embedded.schema import read_meta, write_meta
from askem.stores.embedded.writer import checksum, sparse_documents
from askem.stores.report import VerifyReport

if TYPE_CHECKING:
    from askem.stores.embedded.store import EmbeddedStore

_LISTED = 20
"""Findings of one kind that are named before the rest is only counted."""
_CHUNK = 2_000


@dataclass(frozen=True, slots=True)
class _Stored:
    """A source as SQLite holds it."""

    content_hash: str
    preprocessor_id: str
    topics: tuple[str, ...]
    passages: int
    windows: int
    updated_at: str


class EmbeddedVerifier:
    def __init__(self, store: EmbeddedStore, encoder: Encoder) -> None:
        self._store = store
        self._encoder = encoder
        self._db = store.writer.connection

    def check(self) -> VerifyReport:
        """Compares everything with everything; changes nothing, keeps writers out meanwhile."""
        with self._store.writer.locked():
            rows = self._rows()
            missing, extra = self._sparse_differences(set(rows))
            damaged = self._damaged()
            findings = [
                *_named("not in the sparse index", [rows[row] for row in missing]),
                *([f"{len(extra)} passages in the sparse index that are gone"] if extra else []),
                *_named("vectors are damaged or missing", [rows[row] for row in damaged]),
                *self._waiting(),
                *self._statistics(),
                *(finding for finding, _ in self._ledger_differences()),
            ]
            stored = self._stored()
        return VerifyReport(
            sources=len(stored),
            passages=len(rows),
            sparse=len(rows) - len(missing) + len(extra),
            dense=len(rows) - len(damaged),
            findings=findings,
        )

    def repair(self) -> VerifyReport:
        """Mends what `check` would find and checks again. Safe to interrupt and repeat."""
        with self._store.writer.locked():
            rows = self._rows()
            damaged = self._damaged()
            if damaged:
                self._encode_again(damaged)
            missing, extra = self._sparse_differences(set(rows))
            if missing or extra or not self._store.sparse_files.exists():
                self._rebuild_sparse()
            with self._store.writer.exclusive():
                pass  # takes what waits in the outbox into the sparse index
            if list(self._statistics()):
                self._count_again()
            self._store.ledger.record([entry for _, entry in self._ledger_differences()])
        return self.check()

    def _rows(self) -> dict[int, str]:
        return dict(self._db.execute("SELECT row_id, passage_id FROM passages ORDER BY row_id"))

    def _sparse_differences(self, rows: set[int]) -> tuple[list[int], list[int]]:
        """Row ids that the sparse index lacks, and those it holds and should not."""
        try:
            searcher = self._store.sparse_files.open().searcher()
        except CorruptStore:
            return sorted(rows), []
        held: list[int] = []
        if searcher.num_docs:
            found = searcher.search(tantivy.Query.all_query(), limit=searcher.num_docs, count=False)
            addresses = [address for _, address in found.hits]
            held = [int(row or 0) for row in searcher.fast_field_values("row_id", addresses)]
        count = Counter(held)
        doubled = [row for row, n in count.items() if n > 1]
        return sorted(rows - set(held)), sorted(set(held) - rows) + doubled

    def _damaged(self) -> list[int]:
        """Row ids whose vectors are not as they were written."""
        meta = read_meta(self._db)
        generation = int(meta["generation"])
        damaged = []
        places = self._db.execute(
            "SELECT row_id, first_slot, windows, vectors_crc FROM passages ORDER BY first_slot"
        ).fetchall()
        for row_id, slot, windows, crc in places:
            try:
                vectors = self._store.vectors.view(generation, slot + windows)
            except CorruptStore:
                damaged.append(row_id)
                continue
            if checksum(vectors[slot : slot + windows]) != crc:
                damaged.append(row_id)
        return damaged

    def _waiting(self) -> Iterator[str]:
        waiting = self._db.execute("SELECT count(*) FROM outbox").fetchone()[0]
        if waiting:
            yield f"{waiting} changes wait for the sparse index; the next write takes them up"

    def _statistics(self) -> Iterator[str]:
        meta = read_meta(self._db)
        passages, tokens, slots = self._db.execute(
            "SELECT count(*), total(length), total(windows) FROM passages"
        ).fetchone()
        for name, counted in (("passages", passages), ("tokens", tokens), ("live_slots", slots)):
            if int(meta[name]) != int(counted):
                yield f"the corpus statistics say {meta[name]} {name}, counted are {int(counted)}"
        noted = dict(self._db.execute("SELECT term_id, df FROM lexicon WHERE df <> 0"))
        if noted != self._frequencies():
            yield "document frequencies differ from the passages' own tokens"

    def _frequencies(self) -> dict[int, int]:
        frequencies: Counter[int] = Counter()
        for (blob,) in self._db.execute("SELECT tokens FROM passage_tokens"):
            frequencies.update(np.unique(np.frombuffer(blob, dtype="<i4")).tolist())
        return dict(frequencies)

    def _count_again(self) -> None:
        frequencies = self._frequencies()
        with self._store.writer.transaction():
            self._db.execute("UPDATE lexicon SET df = 0")
            self._db.executemany(
                "UPDATE lexicon SET df = ? WHERE term_id = ?",
                [(df, term_id) for term_id, df in frequencies.items()],
            )
            passages, tokens, slots = self._db.execute(
                "SELECT count(*), total(length), total(windows) FROM passages"
            ).fetchone()
            write_meta(self._db, passages=passages, tokens=int(tokens), live_slots=int(slots))

    def _encode_again(self, damaged: list[int]) -> None:
        """New vectors at the end of the file, then a compaction, which makes readers look anew."""
        for start in range(0, len(damaged), _CHUNK):
            part = damaged[start : start + _CHUNK]
            texts = [
                text
                for (text,) in self._db.execute(
                    "SELECT text FROM passages WHERE row_id IN (SELECT value FROM json_each(?)) "
                    "ORDER BY row_id",
                    (json.dumps(sorted(part)),),
                )
            ]
            vectors = self._encoder.encode_passages(texts)
            self._store.writer.rewrite_vectors(dict(zip(sorted(part), vectors, strict=True)))
        self._store.writer.compact()

    def _rebuild_sparse(self) -> None:
        self._store.sparse_files.create()
        rows = list(self._rows())
        for start in range(0, len(rows), _CHUNK):
            part = rows[start : start + _CHUNK]
            self._store.sparse_files.apply([], sparse_documents(self._db, part))
        with self._store.writer.transaction():
            self._db.execute("DELETE FROM outbox")
            # Readers follow the database: this tells them to open the index again.
            write_meta(self._db, sparse_rebuilt_at=utc_now())

    def _stored(self) -> dict[SourceKey, _Stored]:
        rows = self._db.execute(
            "SELECT paper_id, doc_type, cosmos_object_id, content_hash, preprocessor_id, "
            "(SELECT json_group_array(topic) FROM source_topics "
            " WHERE source_topics.source_id = sources.source_id), "
            "count(row_id), total(windows), updated_at "
            "FROM sources LEFT JOIN passages USING (source_id) GROUP BY source_id"
        )
        return {
            SourceKey(paper, doc_type, object_id): _Stored(
                content, preprocessor, tuple(sorted(json.loads(topics))), n, int(windows), at
            )
            for paper, doc_type, object_id, content, preprocessor, topics, n, windows, at in rows
        }

    def _ledger_differences(self) -> Iterator[tuple[str, LedgerEntry]]:
        """What is wrong with an entry, and the entry that would be right."""
        stored = self._stored()
        for entry in list(self._store.ledger.entries()):
            held = stored.pop(entry.key, None)
            name = _name(entry.key)
            if held is None:
                if entry.state != "failed":
                    reason = "not stored; ingest its file again"
                    gone = replace(entry, state="failed", passages=0, windows=0, error=reason)
                    yield f"{name}: the ledger says {entry.state}, {reason}", gone
            elif entry.state != "complete" or not _says(entry, held):
                finding = (
                    f"{name}: the ledger says {entry.state} with {entry.passages} passages, "
                    f"stored are {held.passages}; ingest its file again"
                )
                yield finding, _entry(entry.key, held, self._encoder.encoder_id)
        for key, held in stored.items():
            entry = _entry(key, held, self._encoder.encoder_id)
            yield f"{_name(key)}: stored, but not in the ledger", entry


def _name(key: SourceKey) -> str:
    return f"{key.paper_id} {key.doc_type} {key.cosmos_object_id}".strip()


def _says(entry: LedgerEntry, held: _Stored) -> bool:
    return (entry.content_hash, entry.preprocessor_id, entry.topics, entry.passages) == (
        held.content_hash,
        held.preprocessor_id,
        held.topics,
        held.passages,
    )


def _entry(key: SourceKey, held: _Stored, encoder_id: str) -> LedgerEntry:
    return LedgerEntry(
        key=key,
        state="complete",
        content_hash=held.content_hash,
        preprocessor_id=held.preprocessor_id,
        encoder_id=encoder_id,
        topics=held.topics,
        passages=held.passages,
        windows=held.windows,
        updated_at=held.updated_at,
    )


def _named(what: str, passage_ids: list[str]) -> Iterator[str]:
    for passage_id in passage_ids[:_LISTED]:
        yield f"{passage_id}: {what}"
    if len(passage_ids) > _LISTED:
        yield f"and {len(passage_ids) - _LISTED} more: {what}"
