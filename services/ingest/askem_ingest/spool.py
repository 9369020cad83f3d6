"""Files of jobs on disk: `jobs/<job id>/`, a file a source by its number, and a manifest.

The names that callers give are kept in the manifest alone; no path is ever made of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from io import BufferedWriter
from pathlib import Path

from askem.errors import BackendUnavailable
from askem.models import DocType, SourceKey

MANIFEST = "manifest.json"
_ORPHAN_AGE_S = 3600.0
"""Longer than any upload lasts, whichever process takes it."""
_FULL_RETRY_S = 60.0


@dataclass(frozen=True, slots=True)
class SpooledSource:
    """A source of a job; its place in the manifest is its file's number."""

    key: SourceKey
    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Manifest:
    doc_type: DocType
    preprocessor: str
    topics: tuple[str, ...]
    """Canonical, sorted."""
    sources: tuple[SpooledSource, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(source.size for source in self.sources)

    def digest(self) -> str:
        """The same for two requests that ask for the same."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


@contextmanager
def disk() -> Iterator[None]:
    """Names what a full or broken disk does. Raises BackendUnavailable."""
    try:
        yield
    except OSError as error:
        raise BackendUnavailable(
            "ingest queue", f"cannot be written ({error})", retry_after_s=_FULL_RETRY_S
        ) from error


class Draft:
    """The files of a job that is not accepted yet. For one thread at a time."""

    def __init__(self, root: Path, sync: Callable[[int], None]) -> None:
        # Ids sort by time, so that a page of jobs can begin after one that is gone.
        self.job_id = f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"
        self.path = root / self.job_id
        self._sync = sync
        self._count = 0
        self._file: BufferedWriter | None = None
        self._hash = hashlib.sha256()
        self._size = 0
        with disk():
            self.path.mkdir(mode=0o700)

    @property
    def size(self) -> int:
        """Bytes of the file that is open."""
        return self._size

    def begin(self) -> None:
        """Opens the next file."""
        with disk():
            self._file = (self.path / _file_name(self._count)).open("xb")
        self._count += 1
        self._hash, self._size = hashlib.sha256(), 0

    def write(self, data: bytes) -> None:
        assert self._file is not None  # noqa: S101 - begin() comes first
        with disk():
            self._file.write(data)
        self._hash.update(data)
        self._size += len(data)

    def end(self) -> str:
        """Closes the file, durably; its SHA-256 in hex."""
        assert self._file is not None  # noqa: S101
        with disk(), self._file as file:
            file.flush()
            self._sync(file.fileno())
        self._file = None
        return self._hash.hexdigest()

    def seal(self, manifest: Manifest) -> None:
        """Writes the manifest; all files are durable on return."""
        with disk():
            with (self.path / MANIFEST).open("xb") as file:
                file.write(json.dumps(asdict(manifest)).encode())
                file.flush()
                self._sync(file.fileno())
            for folder in (self.path, self.path.parent):
                descriptor = os.open(folder, os.O_RDONLY)
                try:
                    self._sync(descriptor)
                finally:
                    os.close(descriptor)

    def discard(self) -> None:
        """Removes all of it."""
        if self._file is not None:
            # What was buffered may not fit the disk.
            with suppress(OSError):
                self._file.close()
            self._file = None
        shutil.rmtree(self.path, ignore_errors=True)


class Spool:
    """The folder of all jobs' files, shared by any number of processes."""

    def __init__(self, root: Path, *, sync: Callable[[int], None] = os.fsync) -> None:
        """Creates the folder. `sync`: makes a file descriptor's content durable."""
        self.root = root
        self._sync = sync
        with disk():
            root.mkdir(mode=0o700, parents=True, exist_ok=True)

    def draft(self) -> Draft:
        """An empty draft. Raises BackendUnavailable, as do its methods."""
        return Draft(self.root, self._sync)

    def manifest(self, job_id: str) -> Manifest:
        """Raises OSError where it is gone, ValueError where it is damaged."""
        data = json.loads((self.root / job_id / MANIFEST).read_bytes())
        try:
            sources = tuple(
                SpooledSource(**{**source, "key": SourceKey(**source["key"])})
                for source in data.pop("sources")
            )
            return Manifest(**{**data, "topics": tuple(data["topics"]), "sources": sources})
        except (KeyError, TypeError) as error:
            raise ValueError(f"manifest of job {job_id}: {error}") from error

    def read(self, job_id: str, number: int) -> bytes:
        """A source's bytes. Raises OSError."""
        return (self.root / job_id / _file_name(number)).read_bytes()

    def remove(self, job_id: str) -> None:
        shutil.rmtree(self.root / job_id, ignore_errors=True)

    def sweep(self, live: Collection[str], finished: Collection[str]) -> int:
        """Removes the files of finished jobs, and old drafts that nobody finished; how many."""
        removed = 0
        for folder in [path for path in self.root.iterdir() if path.is_dir()]:
            if folder.name in live:
                continue
            try:
                age_s = time.time() - folder.stat().st_mtime
            except FileNotFoundError:
                continue
            if folder.name in finished or age_s > _ORPHAN_AGE_S:
                shutil.rmtree(folder, ignore_errors=True)
                removed += 1
        return removed

    def probe(self) -> None:
        """Writes and removes a file. Raises BackendUnavailable."""
        path = self.root / f".probe-{secrets.token_hex(8)}"
        with disk():
            try:
                path.write_bytes(b"x" * 4096)
            finally:
                path.unlink(missing_ok=True)


def _file_name(number: int) -> str:
    return f"{number}.txt"
