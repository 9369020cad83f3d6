"""The SQLite database of the embedded store: the truth that the other files are derived from."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from askem.errors import BackendUnavailable, ConfigurationError

SCHEMA_VERSION = "1"
DATABASE = "askem.sqlite3"

_DDL = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- What was asked for and how far it got. The tables below say what is stored.
CREATE TABLE ledger (
    paper_id TEXT NOT NULL, doc_type TEXT NOT NULL, cosmos_object_id TEXT NOT NULL,
    state TEXT NOT NULL, content_hash TEXT NOT NULL, preprocessor_id TEXT NOT NULL,
    encoder_id TEXT NOT NULL, topics TEXT NOT NULL, passages INTEGER NOT NULL,
    windows INTEGER NOT NULL, updated_at TEXT NOT NULL, error TEXT,
    PRIMARY KEY (paper_id, doc_type, cosmos_object_id)
) WITHOUT ROWID;

CREATE TABLE sources (
    source_id INTEGER PRIMARY KEY,
    paper_id TEXT NOT NULL, doc_type TEXT NOT NULL, cosmos_object_id TEXT NOT NULL,
    preprocessor_id TEXT NOT NULL, content_hash TEXT NOT NULL, updated_at TEXT NOT NULL,
    UNIQUE (paper_id, doc_type, cosmos_object_id)
);
CREATE TABLE source_topics (
    topic TEXT NOT NULL, source_id INTEGER NOT NULL REFERENCES sources ON DELETE CASCADE,
    PRIMARY KEY (topic, source_id)
) WITHOUT ROWID;
CREATE INDEX source_topics_by_source ON source_topics (source_id);

-- AUTOINCREMENT: a row id is never used twice, so that the derived files cannot mix passages up.
CREATE TABLE passages (
    row_id INTEGER PRIMARY KEY AUTOINCREMENT,
    passage_id TEXT NOT NULL UNIQUE,
    source_id INTEGER NOT NULL REFERENCES sources ON DELETE CASCADE,
    ord INTEGER NOT NULL, first_slot INTEGER NOT NULL, windows INTEGER NOT NULL,
    vectors_crc INTEGER NOT NULL, length INTEGER NOT NULL, terms TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX passages_by_source ON passages (source_id, row_id, first_slot, windows);
CREATE TABLE passage_terms (
    term TEXT NOT NULL, row_id INTEGER NOT NULL REFERENCES passages ON DELETE CASCADE,
    PRIMARY KEY (term, row_id)
) WITHOUT ROWID;
CREATE INDEX passage_terms_by_row ON passage_terms (row_id);

-- Term ids of each passage as little-endian int32, in text order: for BM25 and proximity.
CREATE TABLE passage_tokens (
    row_id INTEGER PRIMARY KEY REFERENCES passages ON DELETE CASCADE, tokens BLOB NOT NULL
);
CREATE TABLE lexicon (term_id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, df INTEGER NOT NULL);

-- Passages removed since the last compaction, for readers that keep the row map in memory.
CREATE TABLE removed_rows (seq INTEGER PRIMARY KEY AUTOINCREMENT, row_id INTEGER NOT NULL);
-- Rows that the sparse index has yet to add or drop.
CREATE TABLE outbox (row_id INTEGER PRIMARY KEY);
"""

_FIRST_META = {
    "schema_version": SCHEMA_VERSION,
    "generation": "1",
    "next_slot": "0",
    "passages": "0",
    "tokens": "0",
    "live_slots": "0",
}


def connect(path: Path, *, writer: bool = False) -> sqlite3.Connection:
    """A connection in autocommit mode; transactions are begun explicitly.

    May be closed from another thread, but is used by one at a time.
    """
    connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA cache_size = -32768")
    if writer:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """One writing transaction, all or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # A full disk ends the transaction by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def writable() -> Iterator[None]:
    """Names what a full disk or a lock held too long does to a write."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        raise BackendUnavailable("data folder", f"cannot be written ({error})") from error


def create_or_check(connection: sqlite3.Connection, path: Path) -> None:
    """Creates the tables in an empty database, all or none; refuses another version's."""
    with transaction(connection):
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in _DDL.split(";\n"):
                connection.execute(statement)
            connection.executemany("INSERT INTO meta VALUES (?, ?)", _FIRST_META.items())
    version = read_meta(connection).get("schema_version")
    if version != SCHEMA_VERSION:
        raise ConfigurationError(
            f"{path} has schema version {version}, this Askem reads {SCHEMA_VERSION}: "
            "ingest into a new ASKEM_DATA_DIR, or use the version that wrote it"
        )


def read_meta(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT key, value FROM meta"))


def write_meta(connection: sqlite3.Connection, **values: object) -> None:
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        [(key, str(value)) for key, value in values.items()],
    )
