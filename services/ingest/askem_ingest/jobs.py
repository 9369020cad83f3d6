"""The queue of jobs and their receipts: a small SQLite database that several processes share."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from askem.errors import BackendUnavailable, InvalidInput, Overloaded
from askem.ingestion.receipts import Receipt
from askem_ingest.job_rows import WAITING, Job, open_database, select_jobs
from askem_ingest.spool import Manifest

KEY_LIFE_S = 24 * 3600.0
_BUSY_RETRY_S = 10.0


class JobStore:
    """Thread-safe. Every change is durable on return, wholly or not at all.

    Raises BackendUnavailable where the disk is full or another process holds on to the file.
    """

    def __init__(
        self,
        folder: Path,
        *,
        max_jobs: int,
        max_bytes: int,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Opens or creates the database in `folder`. Raises ConfigurationError."""
        self._max_jobs, self._max_bytes, self._now = max_jobs, max_bytes, now
        self._lock = threading.Lock()
        self._db = open_database(folder)

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # Callers' side

    def check_room(self, size: int = 0, *, key: str | None = None) -> None:
        """Raises Overloaded where no job of `size` bytes can be taken. A known `key` needs none."""
        with self._access() as db:
            if not (key and self._of_key(db, key)):
                self._check_room(db, size)

    def accept(
        self, job_id: str, manifest: Manifest, *, key: str | None = None
    ) -> tuple[Job, bool]:
        """The job for the manifest, and whether `key` had been given to it before.

        Raises Overloaded, and InvalidInput where the key belongs to another manifest.
        """
        digest = manifest.digest()
        with self._transaction() as db:
            known = self._of_key(db, key) if key else None
            if known:
                known_id, known_digest = known
                if known_digest != digest:
                    raise InvalidInput("Idempotency-Key", "was used with another body")
                return self._get(db, known_id), True
            self._check_room(db, manifest.size)
            db.execute(
                "INSERT INTO jobs (id, state, doc_type, preprocessor, topics, sources, bytes, "
                "created_at) VALUES (?, 'queued', ?, ?, ?, ?, ?, ?)",
                (
                    job_id,
                    manifest.doc_type,
                    manifest.preprocessor,
                    json.dumps(manifest.topics),
                    len(manifest.sources),
                    manifest.size,
                    self._now(),
                ),
            )
            if key:
                # One that has run out may still be there.
                db.execute(
                    "INSERT OR REPLACE INTO keys (key, digest, created_at, job_id) "
                    "VALUES (?, ?, ?, ?)",
                    (key, digest, self._now(), job_id),
                )
            return self._get(db, job_id), False

    def get(self, job_id: str) -> Job | None:
        with self._access() as db:
            return next(select_jobs(db, "WHERE id = ?", job_id), None)

    def page(self, *, after: str | None, limit: int) -> list[Job]:
        """Jobs by descending id, so the newest first, those below `after`."""
        where = "WHERE id < ? ORDER BY id DESC LIMIT ?"
        with self._access() as db:
            return list(select_jobs(db, where, "g" if after is None else after, limit))

    def receipts(self, job_id: str, *, limit: int, offset: int) -> list[dict[str, Any]]:
        """In the order in which they were written; the fields of Receipt."""
        with self._access() as db:
            rows = db.execute(
                "SELECT receipt FROM receipts WHERE job_id = ? ORDER BY number LIMIT ? OFFSET ?",
                (job_id, limit, offset),
            ).fetchall()
        return [json.loads(receipt) for (receipt,) in rows]

    def waiting(self) -> int:
        """How many jobs wait or run."""
        with self._access() as db:
            return int(db.execute(f"SELECT count(*) {WAITING}").fetchone()[0])

    # The worker's side: one at a time, over all processes

    def claim(self, *, begun: str | None = None) -> Job | None:
        """The oldest job that is not finished, running from now on; one that ran already was left
        by a worker that is no more. `begun`: the id of the job that the caller claimed last; it
        does not count as another attempt."""
        with self._transaction() as db:
            job = next(
                select_jobs(db, "WHERE state IN ('queued', 'running') ORDER BY seq LIMIT 1"), None
            )
            if job is None:
                return None
            db.execute(
                "UPDATE jobs SET state = 'running', attempts = attempts + ?, "
                "started_at = coalesce(started_at, ?) WHERE id = ?",
                (int(job.id != begun), self._now(), job.id),
            )
            return self._get(db, job.id)

    def sources_done(self, job_id: str) -> set[int]:
        """Numbers of the sources that have a receipt."""
        with self._access() as db:
            rows = db.execute("SELECT source FROM receipts WHERE job_id = ?", (job_id,)).fetchall()
        return {source for (source,) in rows}

    def add_receipt(self, job_id: str, source: int, receipt: Receipt) -> None:
        """A source's receipt; the job has come further."""
        failed, text = receipt.status == "failed", json.dumps(asdict(receipt))
        with self._transaction() as db:
            db.execute(
                "INSERT INTO receipts (job_id, source, failed, receipt) VALUES (?, ?, ?, ?)",
                (job_id, source, failed, text),
            )
            db.execute("UPDATE jobs SET attempts = 1 WHERE id = ?", (job_id,))

    def finish(self, job_id: str, error: str | None = None) -> None:
        """`done`, or with an `error` `failed`."""
        with self._transaction() as db:
            db.execute(
                "UPDATE jobs SET state = ?, finished_at = ?, error = ? WHERE id = ?",
                ("failed" if error else "done", self._now(), error, job_id),
            )

    def release(self, job_id: str) -> None:
        """Back to the queue, in its old place; as if it had not been begun this time."""
        with self._transaction() as db:
            db.execute("UPDATE jobs SET state = 'queued', attempts = 0 WHERE id = ?", (job_id,))

    def purge(self, keep_s: float) -> tuple[set[str], set[str]]:
        """Forgets jobs finished longer ago, and old keys; ids of jobs that wait and that are
        finished."""
        with self._transaction() as db:
            now = self._now()
            db.execute("DELETE FROM keys WHERE created_at <= ?", (now - KEY_LIFE_S,))
            db.execute("DELETE FROM jobs WHERE finished_at <= ?", (now - keep_s,))
            rows = db.execute("SELECT id, finished_at IS NULL FROM jobs").fetchall()
        return {id_ for id_, waits in rows if waits}, {id_ for id_, waits in rows if not waits}

    def _check_room(self, db: sqlite3.Connection, size: int) -> None:
        jobs, taken = db.execute(f"SELECT count(*), coalesce(sum(bytes), 0) {WAITING}").fetchone()
        if jobs >= self._max_jobs or (jobs and taken + size > self._max_bytes):
            message = f"{jobs} jobs of {taken} bytes wait"
            raise Overloaded("ingest queue", message, retry_after_s=_BUSY_RETRY_S)

    def _of_key(self, db: sqlite3.Connection, key: str) -> tuple[str, str] | None:
        found: tuple[str, str] | None = db.execute(
            "SELECT job_id, digest FROM keys WHERE key = ? AND created_at > ?",
            (key, self._now() - KEY_LIFE_S),
        ).fetchone()
        return found

    def _get(self, db: sqlite3.Connection, job_id: str) -> Job:
        return next(select_jobs(db, "WHERE id = ?", job_id))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._access() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                # A full disk ends the transaction by itself.
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def _access(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._db
            except sqlite3.OperationalError as error:
                raise BackendUnavailable(
                    "ingest queue", f"cannot be used ({error})", retry_after_s=_BUSY_RETRY_S
                ) from error
