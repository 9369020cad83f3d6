"""Writing passages: SQLite first, the sparse index after it, healed by running again.

The order makes any crash harmless: vectors are appended and synced; one SQLite transaction makes
them known and puts the rows into an outbox; the sparse index takes the outbox; the outbox is
cleared. Whoever writes next finishes what was left in the outbox.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from askem.clock import utc_now
from askem.errors import EncoderMismatch
from askem.models import SourceKey
from askem.ports import EncodedSource, StoredCounts
from askem.stores.embedded.schema import (
    DATABASE,
    connect,
    read_meta,
    transaction,
    writable,
    write_meta,
)
from askem.stores.embedded.sparse_files import SparseDocument, SparseFiles
from askem.stores.embedded.vectors import VectorFile

LOCK_FILE = "writer.lock"
_COMPACT_ABOVE = 10_000
"""Dead slots below this number are not worth a copy of the file."""


class EmbeddedWriter:
    """The one way to change an embedded store. One at a time across processes and threads."""

    def __init__(
        self, data_dir: Path, vectors: VectorFile, sparse: SparseFiles, encoder_id: str
    ) -> None:
        self._encoder_id = encoder_id
        self._vectors = vectors
        self._sparse = sparse
        self._lock = FileLock(data_dir / LOCK_FILE)
        self.connection = connect(data_dir / DATABASE, writer=True)

    def close(self) -> None:
        self.connection.close()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the writer lock and leaves everything as it was found."""
        with self._lock:
            yield

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Holds the writer lock; what an earlier writer left undone is finished first."""
        with writable(), self._lock:
            self._replay_outbox()
            yield

    def replace(self, sources: Sequence[EncodedSource]) -> None:
        """Makes the store hold exactly these passages of each source; durable on return.

        Raises BackendUnavailable where the folder cannot be written (disk full), EncoderMismatch
        where another encoder's index has taken this one's place, and CorruptStore.
        """
        with self.exclusive():
            meta = read_meta(self.connection)
            if meta["encoder_id"] != self._encoder_id:
                raise EncoderMismatch(
                    f"the index is now of encoder {meta['encoder_id']}, vectors came from "
                    f"{self._encoder_id}: was the data folder emptied and filled again meanwhile?"
                )
            slot = int(meta["next_slot"])
            rows = [array for source in sources for array in source.vectors]
            if rows:
                self._vectors.append(int(meta["generation"]), slot, np.vstack(rows))
            with self.transaction():
                for source in sources:
                    self._remove(source.key)
                    slot = self._insert(source, slot)
                write_meta(self.connection, next_slot=slot)
            self._replay_outbox()
            self._compact_if_worth()

    def delete(self, keys: Sequence[SourceKey]) -> None:
        with self.exclusive():
            with self.transaction():
                for key in keys:
                    self._remove(key)
            self._replay_outbox()
            self._compact_if_worth()

    def counts(self, keys: Sequence[SourceKey]) -> list[StoredCounts]:
        """Counted in the sparse index itself, and in the vector file by checksum."""
        searcher = self._sparse.open().searcher()
        generation = int(read_meta(self.connection)["generation"])
        counts = []
        for key in keys:
            rows = self.connection.execute(
                "SELECT row_id, first_slot, windows, vectors_crc FROM passages "
                "JOIN sources USING (source_id) "
                "WHERE paper_id = ? AND doc_type = ? AND cosmos_object_id = ?",
                _key(key),
            ).fetchall()
            query = self._sparse.rows([row[0] for row in rows])
            found = len(searcher.search(query, limit=len(rows), count=False).hits) if rows else 0
            dense = sum(
                checksum(self._vectors.view(generation, slot + n)[slot : slot + n]) == crc
                for _, slot, n, crc in rows
            )
            counts.append(StoredCounts(sparse=found, dense=dense))
        return counts

    def vectors(self, key: SourceKey) -> list[NDArray[np.float32]] | None:
        """Copies, in passage order; None where the source is not stored or a checksum fails."""
        rows = self.connection.execute(
            "SELECT first_slot, windows, vectors_crc FROM passages JOIN sources USING (source_id) "
            "WHERE paper_id = ? AND doc_type = ? AND cosmos_object_id = ? ORDER BY ord",
            _key(key),
        ).fetchall()
        meta = read_meta(self.connection)
        view = self._vectors.view(int(meta["generation"]), int(meta["next_slot"]))
        found = [np.array(view[slot : slot + n]) for slot, n, _ in rows]
        sound = all(checksum(array) == crc for array, (*_, crc) in zip(found, rows, strict=True))
        return found if found and sound else None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One SQLite transaction; the caller holds the lock."""
        with transaction(self.connection):
            yield

    def _remove(self, key: SourceKey) -> None:
        """Deletes a source's rows and takes them out of the corpus statistics."""
        found = self.connection.execute(
            "SELECT source_id FROM sources "
            "WHERE paper_id = ? AND doc_type = ? AND cosmos_object_id = ?",
            _key(key),
        ).fetchone()
        if found is None:
            return
        rows = self.connection.execute(
            "SELECT row_id, length, windows, tokens FROM passages "
            "JOIN passage_tokens USING (row_id) WHERE source_id = ?",
            found,
        ).fetchall()
        frequencies: Counter[int] = Counter()
        for *_, blob in rows:
            frequencies.update(np.unique(np.frombuffer(blob, dtype="<i4")).tolist())
        self.connection.executemany(
            "UPDATE lexicon SET df = df - ? WHERE term_id = ?",
            [(df, term_id) for term_id, df in frequencies.items()],
        )
        row_ids = [(row[0],) for row in rows]
        self.connection.executemany("INSERT INTO removed_rows (row_id) VALUES (?)", row_ids)
        self.connection.executemany("INSERT OR IGNORE INTO outbox VALUES (?)", row_ids)
        self.connection.execute("DELETE FROM sources WHERE source_id = ?", found)
        self._count(-len(rows), -sum(row[1] for row in rows), -sum(row[2] for row in rows))

    def _insert(self, source: EncodedSource, slot: int) -> int:
        """Writes a source's rows, its vectors standing at `slot`; returns the next free slot."""
        db = self.connection
        source_id = db.execute(
            "INSERT INTO sources (paper_id, doc_type, cosmos_object_id, preprocessor_id, "
            "content_hash, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
            (*_key(source.key), source.preprocessor_id, source.content_hash, utc_now()),
        ).lastrowid
        db.executemany(
            "INSERT INTO source_topics VALUES (?, ?)", [(t, source_id) for t in source.topics]
        )
        term_ids = self._term_ids(source.tokens)
        first_slot = slot
        for passage, tokens, vectors in zip(
            source.passages, source.tokens, source.vectors, strict=True
        ):
            windows = len(vectors)
            row_id = db.execute(
                "INSERT INTO passages (passage_id, source_id, ord, first_slot, windows, "
                "vectors_crc, length, terms, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    passage.passage_id,
                    source_id,
                    passage.order,
                    slot,
                    windows,
                    checksum(vectors),
                    len(tokens),
                    json.dumps(passage.paragraph_terms, ensure_ascii=False),
                    passage.text,
                ),
            ).lastrowid
            ids = np.array([term_ids[token] for token in tokens], dtype="<i4")
            db.execute("INSERT INTO passage_tokens VALUES (?, ?)", (row_id, ids.tobytes()))
            db.executemany(
                "INSERT INTO passage_terms VALUES (?, ?)",
                [(term, row_id) for term in passage.paragraph_terms],
            )
            db.execute("INSERT INTO outbox VALUES (?)", (row_id,))
            slot += windows
        self._count(len(source.passages), sum(map(len, source.tokens)), slot - first_slot)
        return slot

    def _term_ids(self, passages: Sequence[Sequence[str]]) -> dict[str, int]:
        """Ids of all terms, new ones added; document frequencies raised."""
        frequencies = Counter(term for tokens in passages for term in set(tokens))
        self.connection.executemany(
            "INSERT INTO lexicon (term, df) VALUES (?, ?) "
            "ON CONFLICT (term) DO UPDATE SET df = df + excluded.df",
            frequencies.items(),
        )
        return dict(
            self.connection.execute(
                "SELECT term, term_id FROM lexicon WHERE term IN (SELECT value FROM json_each(?))",
                (json.dumps(list(frequencies)),),
            )
        )

    def _count(self, passages: int, tokens: int, slots: int) -> None:
        """Adds to the corpus statistics; `slots` are vectors in use."""
        added = {"passages": passages, "tokens": tokens, "live_slots": slots}
        self.connection.executemany(
            "UPDATE meta SET value = CAST(value AS INTEGER) + ? WHERE key = ?",
            [(number, key) for key, number in added.items()],
        )

    def _replay_outbox(self) -> None:
        rows = [row for (row,) in self.connection.execute("SELECT row_id FROM outbox")]
        if not rows:
            return
        self._sparse.apply(rows, sparse_documents(self.connection, rows))
        self.connection.execute(
            "DELETE FROM outbox WHERE row_id IN (SELECT value FROM json_each(?))",
            (json.dumps(rows),),
        )

    def _compact_if_worth(self) -> None:
        meta = read_meta(self.connection)
        live = int(meta["live_slots"])
        dead = int(meta["next_slot"]) - live
        if dead > _COMPACT_ABOVE and dead > live:
            self.compact()

    def rewrite_vectors(self, vectors: Mapping[int, NDArray[np.float32]]) -> None:
        """New vectors for rows that exist; `compact` afterwards, so that readers see them."""
        meta = read_meta(self.connection)
        slot, places = int(meta["next_slot"]), []
        new = np.vstack(list(vectors.values()))
        self._vectors.append(int(meta["generation"]), slot, new, repair=True)
        for row_id, array in vectors.items():
            places.append((slot, len(array), checksum(array), row_id))
            slot += len(array)
        with self.transaction():
            self.connection.executemany(
                "UPDATE passages SET first_slot = ?, windows = ?, vectors_crc = ? WHERE row_id = ?",
                places,
            )
            write_meta(self.connection, next_slot=slot)

    def compact(self) -> None:
        """Copies the live vectors into a file of the next generation and drops the old one."""
        with self._lock:
            meta = read_meta(self.connection)
            generation = int(meta["generation"])
            old = self._vectors.view(generation, int(meta["next_slot"]))
            rows = self.connection.execute(
                "SELECT row_id, first_slot, windows FROM passages ORDER BY row_id"
            ).fetchall()
            moves, slot = [], 0
            self._vectors.path(generation + 1).unlink(missing_ok=True)
            for part in _chunks(rows, 10_000):
                copy = np.vstack([old[first : first + n] for _, first, n in part])
                self._vectors.append(generation + 1, slot, copy)
                for row_id, _, n in part:
                    moves.append((slot, row_id))
                    slot += n
            with self.transaction():
                self.connection.executemany(
                    "UPDATE passages SET first_slot = ? WHERE row_id = ?", moves
                )
                self.connection.execute("DELETE FROM removed_rows")
                write_meta(self.connection, generation=generation + 1, next_slot=slot)
            self._vectors.remove_others(generation + 1)


def sparse_documents(
    connection: sqlite3.Connection, row_ids: Iterable[int]
) -> Iterator[SparseDocument]:
    """The sparse index's view of those of the rows that exist."""
    topics: dict[int, list[str]] = {}
    for row_id in row_ids:
        row = connection.execute(
            "SELECT source_id, paper_id, doc_type, preprocessor_id, terms, tokens FROM passages "
            "JOIN sources USING (source_id) JOIN passage_tokens USING (row_id) WHERE row_id = ?",
            (row_id,),
        ).fetchone()
        if row is None:
            continue
        source_id, paper_id, doc_type, preprocessor_id, terms, blob = row
        if source_id not in topics:
            found = connection.execute(
                "SELECT topic FROM source_topics WHERE source_id = ?", (source_id,)
            )
            topics[source_id] = [topic for (topic,) in found]
        ids = np.frombuffer(blob, dtype="<i4").tolist()
        names = dict(
            connection.execute(
                "SELECT term_id, term FROM lexicon "
                "WHERE term_id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(set(ids))),),
            )
        )
        yield SparseDocument(
            row_id=row_id,
            tokens=[names[i] for i in ids],
            paper_id=paper_id,
            doc_type=doc_type,
            preprocessor_id=preprocessor_id,
            topics=topics[source_id],
            terms=json.loads(terms),
        )


def checksum(vectors: NDArray[np.float32]) -> int:
    """CRC-32 of the vectors as they stand in the file."""
    return zlib.crc32(np.ascontiguousarray(vectors, dtype="<f4").tobytes())


def _key(key: SourceKey) -> tuple[str, str, str]:
    return key.paper_id, key.doc_type, key.cosmos_object_id


def _chunks(rows: list[tuple[int, int, int]], size: int) -> Iterator[list[tuple[int, int, int]]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
