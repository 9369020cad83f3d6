"""The embedded store: SQLite, Tantivy and a vector file in one data folder, no server."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Self

from filelock import FileLock

from askem.closing import Closing
from askem.errors import ConfigurationError, EncoderMismatch
from askem.ports import Encoder
from askem.stores.embedded.access import Access
from askem.stores.embedded.dense import EmbeddedDense
from askem.stores.embedded.ledger import EmbeddedLedger
from askem.stores.embedded.reader import EmbeddedReader
from askem.stores.embedded.schema import DATABASE, connect, create_or_check, read_meta, write_meta
from askem.stores.embedded.sparse import EmbeddedSparse
from askem.stores.embedded.sparse_files import SparseFiles
from askem.stores.embedded.vectors import VectorFile
from askem.stores.embedded.writer import LOCK_FILE, EmbeddedWriter

_OPENING_LOCK_FILE = "opening.lock"


class EmbeddedStore(Closing):
    """All ports of one data folder. Any number of processes may read while one writes."""

    def __init__(self, data_dir: Path, *, encoder_id: str, dimension: int) -> None:
        """Opens the folder, creating what is missing.

        Raises EncoderMismatch where the index was built with another encoder, and
        ConfigurationError where the folder cannot be used.
        """
        try:
            data_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(f"ASKEM_DATA_DIR: cannot use {data_dir} ({error})") from error
        self.data_dir = data_dir
        self.vectors = VectorFile(data_dir, dimension)
        self.sparse_files = SparseFiles(data_dir)
        try:
            # Not the writer's lock, which may be held for long. SQLite itself does not wait where
            # two processes turn a new database to WAL at once.
            with FileLock(data_dir / _OPENING_LOCK_FILE):
                self._prepare(encoder_id, dimension)
        except sqlite3.Error as error:
            raise ConfigurationError(f"ASKEM_DATA_DIR: cannot use {data_dir} ({error})") from error
        self.access = Access(data_dir, self.vectors, self.sparse_files, encoder_id)
        self.sparse = EmbeddedSparse(self.access, self.sparse_files)
        self.dense = EmbeddedDense(self.access)
        self.reader = EmbeddedReader(self.access)
        self.ledger = EmbeddedLedger(data_dir)
        self.writer = EmbeddedWriter(data_dir, self.vectors, self.sparse_files, encoder_id)

    @staticmethod
    def exists(data_dir: Path) -> bool:
        """Whether the folder holds a store."""
        return (data_dir / DATABASE).is_file()

    @classmethod
    def open(cls, data_dir: Path, encoder: Encoder) -> Self:
        """The store of `data_dir` for vectors of this encoder; raises as the constructor does."""
        return cls(data_dir, encoder_id=encoder.encoder_id, dimension=encoder.dimension)

    def close(self) -> None:
        self.writer.close()
        self.ledger.close()
        self.access.close()

    def _prepare(self, encoder_id: str, dimension: int) -> None:
        path = self.data_dir / DATABASE
        connection = connect(path, writer=True)
        try:
            create_or_check(connection, path)
            meta = read_meta(connection)
            stored = meta.get("encoder_id", encoder_id)
            if stored != encoder_id and int(meta["passages"]):
                raise EncoderMismatch(
                    f"the index in {self.data_dir} was built with encoder {stored}, configured is "
                    f"{encoder_id}: set ASKEM_ENCODER back, or ingest into a new ASKEM_DATA_DIR"
                )
            if "encoder_id" not in meta:
                write_meta(connection, encoder_id=encoder_id, dimension=dimension)
            elif stored != encoder_id:
                # Emptied: a new file, for the old one's slots are of another size.
                generation = int(meta["generation"]) + 1
                meta |= {"generation": str(generation), "next_slot": "0"}
                write_meta(
                    connection,
                    encoder_id=encoder_id,
                    dimension=dimension,
                    generation=generation,
                    next_slot=0,
                )
            # Only an index that never held anything is made here: making an empty one for a
            # corpus that has passages would answer every question with nothing.
            empty = not int(meta["passages"]) and meta["next_slot"] == "0"
            if empty and not self.sparse_files.exists():
                with FileLock(self.data_dir / LOCK_FILE):
                    if not self.sparse_files.exists():
                        self.sparse_files.create()
        finally:
            connection.close()
