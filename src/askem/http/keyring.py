"""The keyring: keys by the digest of their whole text, in a small SQLite file beside the corpus.

No key can be had from it: it is shown once, when it is made. The rollback journal, not WAL: a
reader needs no second file then, and a key changes so rarely that nobody waits.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from askem.errors import ConfigurationError, InvalidInput, NotFound
from askem.http.keyformat import ID_PATTERN, new_key
from askem.http.scopes import KeyScope, known_scopes

KEYRING_FILE = "keys.sqlite3"
MAX_KEYS = 1000
"""Revoked and expired ones included: every server reads them all once a second."""
NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}"
_VERSION = 1
_SCHEMA = """
CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE CHECK (typeof(digest) = 'blob' AND length(digest) = 32),
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
)
"""
_COLUMNS = "id, digest, name, scopes, created_at, expires_at, revoked_at"


class KeyringUnreadable(ConfigurationError):
    """The file is there, and is damaged, of another version, or not this user's to read."""


class KeyringBusy(ConfigurationError):
    """Another process holds the keyring for longer than one may wait."""


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """What is known of a key. Times are Unix seconds."""

    id: str
    digest: bytes
    """SHA-256 of the whole key, 32 bytes."""
    name: str
    scopes: tuple[str, ...]
    created_at: int
    expires_at: int | None
    """First second at which it is no longer good; None: never."""
    revoked_at: int | None

    def state(self, now: float) -> Literal["live", "expired", "revoked"]:
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "live"


class Keyring:
    """The keys of one data folder. Opens the file for each call, and makes it at the first key.

    Any number of processes may read and write; a call is done wholly or not at all. Raises
    KeyringUnreadable, and KeyringBusy after `wait_s`.
    """

    def __init__(
        self, data_dir: Path, *, now: Callable[[], float] = time.time, wait_s: float = 5.0
    ) -> None:
        self.path = data_dir / KEYRING_FILE
        self._now = now
        self._wait_s = wait_s

    def create(
        self, name: str, scopes: tuple[KeyScope, ...], expires_at: int | None = None
    ) -> tuple[KeyRecord, str]:
        """A new key, and its text, which is not kept. Names need not be unique. Raises InvalidInput
        for a name that does not match NAME_PATTERN, no scope, and a keyring of MAX_KEYS keys."""
        if not re.fullmatch(NAME_PATTERN, name):
            raise InvalidInput(
                "name", "1 to 64 letters, digits, spaces, '.', '_', '@' or '-', a letter first"
            )
        key_id, key = new_key()
        digest = hashlib.sha256(key.encode()).digest()
        created_at = int(self._now())
        record = KeyRecord(
            key_id, digest, name, known_scopes(scopes), created_at, expires_at, revoked_at=None
        )
        values = (key_id, digest, name, ",".join(record.scopes), created_at, expires_at, None)
        try:
            self._make_file()
        except OSError as error:
            raise KeyringUnreadable(f"cannot create {self.path}: {error.strerror}") from None
        with self._transaction() as connection:
            (count,) = connection.execute("SELECT count(*) FROM keys").fetchone()
            if count >= MAX_KEYS:
                raise InvalidInput("keys", f"{self.path} holds {MAX_KEYS} keys, the most it may")
            connection.execute(f"INSERT INTO keys ({_COLUMNS}) VALUES (?,?,?,?,?,?,?)", values)
        return record, key

    def revoke(self, key_id: str) -> KeyRecord:
        """The key's record with `revoked_at` set; a second time changes nothing.

        Raises InvalidInput for what cannot be an id, NotFound for an id that no key has. Neither
        message repeats it: somebody may have given the whole key.
        """
        if not re.fullmatch(ID_PATTERN, key_id):
            raise InvalidInput("id", "the 12 characters between the underscores of a key")
        if self._exists():
            with self._transaction() as connection:
                connection.execute(
                    "UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
                    (int(self._now()), key_id),
                )
                for record in _select(connection, "WHERE id = ?", key_id):
                    return record
        raise NotFound("no key has this id (see `askem keys list`)")

    def others_may(self) -> bool:
        """Whether the file's mode lets users besides its owner read or write it."""
        return self._exists() and bool(self.path.stat().st_mode & 0o077)

    def records(self, *, wait_s: float | None = None) -> list[KeyRecord]:
        """Every key, the oldest first; none without a file. `wait_s`: other than the usual."""
        if not self._exists():
            return []
        with self._connection(self._wait_s if wait_s is None else wait_s) as connection:
            return list(_select(connection, "ORDER BY created_at, rowid"))

    def _exists(self) -> bool:
        try:
            return self.path.exists()
        except OSError as error:
            raise KeyringUnreadable(f"cannot look for {self.path}: {error.strerror}") from None

    def _make_file(self) -> None:
        """Makes the file where there is none: whole, mode 0600, in one step."""
        if self.path.exists():
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f".{KEYRING_FILE}.{secrets.token_hex(8)}")
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
                # In one transaction: a half-made file never gets the name.
                connection.executescript(
                    f"BEGIN; {_SCHEMA}; PRAGMA user_version = {_VERSION}; COMMIT"
                )
            # A link, unlike a rename, never overwrites: a faster process's file stays.
            os.link(draft, self.path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._connection(self._wait_s) as connection:
            connection.execute("BEGIN IMMEDIATE")
            # Closing without the commit rolls back.
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _connection(self, wait_s: float) -> Iterator[sqlite3.Connection]:
        # "rw" does not create, and may roll back what a killed writer left; on a read-only file
        # system SQLite makes do with reading.
        uri = f"{self.path.absolute().as_uri()}?mode=rw"
        try:
            with closing(
                sqlite3.connect(uri, uri=True, timeout=wait_s, isolation_level=None)
            ) as connection:
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                if version != _VERSION:
                    raise KeyringUnreadable(
                        f"{self.path} is no keyring of this version (found {version})"
                    )
                yield connection
        except sqlite3.Error as error:
            # Low byte: the primary code, without SQLite's details.
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (
                sqlite3.SQLITE_BUSY,
                sqlite3.SQLITE_LOCKED,
            ):
                raise KeyringBusy(f"{self.path} is in use by another process") from None
            raise KeyringUnreadable(
                f"cannot use {self.path} ({error}); it must be whole, and belong to this user"
            ) from None


def _select(connection: sqlite3.Connection, where: str, *values: str) -> Iterator[KeyRecord]:
    for row in connection.execute(f"SELECT {_COLUMNS} FROM keys {where}", values):
        key_id, digest, name, scopes, *times = row
        if not isinstance(digest, bytes) or not all(isinstance(t, int | None) for t in times):
            raise KeyringUnreadable(f"the keyring's entry for {key_id} is damaged")
        # A scope that this version does not know opens nothing.
        yield KeyRecord(key_id, digest, name, tuple(str(scopes).split(",")), *times)
