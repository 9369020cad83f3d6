"""Reading side: connections by thread, and a view of the files that follows the writer."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tantivy
from numpy.typing import NDArray

from askem.errors import CorruptStore, EncoderMismatch
from askem.stores.embedded.schema import DATABASE, connect, read_meta
from askem.stores.embedded.sparse_files import SparseFiles
from askem.stores.embedded.vectors import VectorFile, window_slots


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the store held at one moment. Arrays are read-only and shared between queries."""

    version: int
    """Changes with every commit that this process can see."""
    generation: int
    slots: int
    """Slots written, dead ones included."""
    row_of_slot: NDArray[np.int64]
    """Shape (slots,): the row that a vector belongs to, -1 where its passage is gone."""
    passages: int
    mean_length: float
    """Tokens a passage, over the corpus."""
    searcher: tantivy.Searcher
    last_row: int
    last_removal: int


class Access:
    """One process's reading access, thread-safe. Every query takes the newest snapshot; making a
    new one costs time in proportion to what changed."""

    def __init__(
        self, data_dir: Path, vectors: VectorFile, sparse: SparseFiles, encoder_id: str
    ) -> None:
        self._encoder_id = encoder_id
        self._path = data_dir / DATABASE
        self._vectors = vectors
        self._sparse = sparse
        self._local = threading.local()
        self._lock = threading.Lock()
        self._connections: list[sqlite3.Connection] = []
        self._poll = self._connect()
        self._index: tantivy.Index | None = None
        self._snapshot: Snapshot | None = None

    def close(self) -> None:
        """No query may be under way."""
        with self._lock:
            for connection in self._connections:
                connection.close()
            self._connections.clear()

    @property
    def db(self) -> sqlite3.Connection:
        """This thread's connection."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            with self._lock:
                connection = self._local.connection = self._connect()
        return connection

    def snapshot(self) -> Snapshot:
        with self._lock:
            version = int(self._poll.execute("PRAGMA data_version").fetchone()[0])
            if self._snapshot is None or self._snapshot.version != version:
                self._snapshot = self._refreshed(version)
            return self._snapshot

    def generation(self) -> int:
        """Of the vector file, as this thread's connection sees it now."""
        found = self.db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
        return int(found[0])

    def vectors(self, generation: int, slots: int) -> NDArray[np.float32]:
        return self._vectors.view(generation, slots)

    def check_files(self) -> None:
        """Raises CorruptStore where a derived file is not there or too short."""
        snapshot = self.snapshot()
        if snapshot.slots:
            self._vectors.check(snapshot.generation, snapshot.slots)
        if not self._sparse.exists():
            raise CorruptStore("the sparse index is lost: run `askem verify --repair`")

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self._path)
        connection.execute("PRAGMA query_only = ON")
        self._connections.append(connection)
        return connection

    def _refreshed(self, version: int) -> Snapshot:
        index = self._newest_index()
        db, known = self._poll, self._snapshot
        db.execute("BEGIN")
        try:
            meta = read_meta(db)
            if meta["encoder_id"] != self._encoder_id:
                raise EncoderMismatch(
                    f"the index is now of encoder {meta['encoder_id']}, opened was one of "
                    f"{self._encoder_id}: start again with the encoder it was filled with"
                )
            generation, slots = int(meta["generation"]), int(meta["next_slot"])
            if known is not None and known.generation == generation:
                row_of_slot, last_row = known.row_of_slot, known.last_row
                last_removal = known.last_removal
            else:
                row_of_slot, last_row, last_removal = np.empty(0, dtype=np.int64), 0, 0
            added = db.execute(
                "SELECT row_id, first_slot, windows FROM passages WHERE row_id > ?", (last_row,)
            ).fetchall()
            removed = db.execute(
                "SELECT seq, row_id FROM removed_rows WHERE seq > ?", (last_removal,)
            ).fetchall()
        finally:
            db.execute("COMMIT")
        if added or removed or slots != len(row_of_slot):
            row_of_slot = _updated(row_of_slot, slots, added, [row for _, row in removed])
        passages = int(meta["passages"])
        return Snapshot(
            version=version,
            generation=generation,
            slots=slots,
            row_of_slot=row_of_slot,
            passages=passages,
            mean_length=int(meta["tokens"]) / passages if passages else 0.0,
            searcher=index.searcher(),
            last_row=max((row for row, _, _ in added), default=last_row),
            last_removal=max((seq for seq, _ in removed), default=last_removal),
        )

    def _newest_index(self) -> tantivy.Index:
        if self._index is None:
            self._index = self._sparse.open()
        else:
            self._sparse.reload(self._index)
        return self._index


def _updated(
    row_of_slot: NDArray[np.int64],
    slots: int,
    added: list[tuple[int, int, int]],
    removed: list[int],
) -> NDArray[np.int64]:
    rows = np.full(slots, -1, dtype=np.int64)
    rows[: len(row_of_slot)] = row_of_slot
    if added:
        row_ids, first, windows = np.array(added, dtype=np.int64).T
        rows[window_slots(first, windows)] = np.repeat(row_ids, windows)
    if removed:
        rows[np.isin(rows, np.array(removed, dtype=np.int64))] = -1
    rows.flags.writeable = False
    return rows
