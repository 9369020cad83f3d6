"""The database of jobs: its tables, and a row of them as a Job."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from askem.errors import ConfigurationError
from askem.models import DocType
from askem_ingest.wire import JobState

DATABASE = "jobs.sqlite3"
WAITING = "FROM jobs WHERE state IN ('queued', 'running')"
_VERSION = 1
_DDL = """
CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, state TEXT NOT NULL,
    doc_type TEXT NOT NULL, preprocessor TEXT NOT NULL, topics TEXT NOT NULL,
    sources INTEGER NOT NULL, bytes INTEGER NOT NULL, created_at REAL NOT NULL,
    started_at REAL, finished_at REAL, attempts INTEGER NOT NULL DEFAULT 0, error TEXT
);
CREATE INDEX jobs_waiting ON jobs (seq) WHERE state IN ('queued', 'running');
CREATE TABLE receipts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    source INTEGER NOT NULL, failed INTEGER NOT NULL, receipt TEXT NOT NULL,
    UNIQUE (job_id, source)
);
CREATE TABLE keys (
    key TEXT PRIMARY KEY, digest TEXT NOT NULL, created_at REAL NOT NULL,
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE
) WITHOUT ROWID
"""
_COLUMNS = """
id, state, doc_type, preprocessor, topics, sources, created_at, started_at, finished_at, attempts,
error, (SELECT count(*) FROM receipts WHERE job_id = id),
(SELECT count(*) FROM receipts WHERE job_id = id AND failed)
"""


@dataclass(frozen=True, slots=True)
class Job:
    """Times are Unix seconds."""

    id: str
    state: JobState
    doc_type: DocType
    preprocessor: str
    topics: tuple[str, ...]
    sources: int
    created_at: float
    started_at: float | None
    finished_at: float | None
    attempts: int
    """How often it was begun since it last came further."""
    error: str | None
    done: int
    failed: int


def open_database(folder: Path) -> sqlite3.Connection:
    """In autocommit mode, for one thread at a time; created where it is missing.

    Raises ConfigurationError.
    """
    path = folder / DATABASE
    try:
        # SQLite does not wait where two processes turn a new database to WAL at once.
        with FileLock(folder / "opening.lock"):
            db = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
            db.executescript(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"
            )
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version == 0:
                db.executescript(f"BEGIN; {_DDL}; PRAGMA user_version = {_VERSION}; COMMIT")
    except (OSError, sqlite3.Error) as error:
        raise ConfigurationError(f"ASKEM_DATA_DIR: cannot use {path} ({error})") from error
    if version not in (0, _VERSION):
        db.close()
        raise ConfigurationError(f"{path} is of another version ({version}) of Askem")
    return db


def select_jobs(db: sqlite3.Connection, where: str, *values: object) -> Iterator[Job]:
    rows = db.execute(f"SELECT {_COLUMNS} FROM jobs {where}", values).fetchall()
    for id_, state, doc_type, preprocessor, topics, *rest in rows:
        yield Job(id_, state, doc_type, preprocessor, tuple(json.loads(topics)), *rest)
