"""The vector file: append-only float32 rows, read through mmap."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askem.errors import CorruptStore


class VectorFile:
    """Rows ("slots") of one dimension in `vectors-<generation>.f32`, little-endian.

    Slots are written once; what a reader has mapped never changes under it. Compaction writes a
    file of the next generation and removes the old one.
    """

    def __init__(self, folder: Path, dimension: int) -> None:
        self._folder = folder
        self._dimension = dimension
        self._lock = threading.Lock()
        self._mapped: tuple[int, NDArray[np.float32]] | None = None

    def path(self, generation: int) -> Path:
        return self._folder / f"vectors-{generation}.f32"

    def view(self, generation: int, slots: int) -> NDArray[np.float32]:
        """At least `slots` rows, shape (rows, dimension), read-only. Raises CorruptStore where
        the file is shorter than the database says."""
        if slots == 0:
            return np.empty((0, self._dimension), dtype=np.float32)
        with self._lock:
            mapped = self._mapped
            if mapped is None or mapped[0] != generation or len(mapped[1]) < slots:
                mapped = self._mapped = (generation, self._map(generation, slots))
            return mapped[1]

    def check(self, generation: int, slots: int) -> int:
        """How many rows the file has. Raises CorruptStore where they are fewer than `slots`."""
        path = self.path(generation)
        row = self._dimension * 4
        rows = path.stat().st_size // row if path.is_file() else 0
        if rows < slots:
            raise CorruptStore(
                f"{path} holds {rows} vectors, the database counts {slots}: "
                "run `askem verify --repair`"
            )
        return rows

    def _map(self, generation: int, slots: int) -> NDArray[np.float32]:
        rows = self.check(generation, slots)
        shape = (rows, self._dimension)
        return np.memmap(self.path(generation), dtype="<f4", mode="r", shape=shape)

    def append(
        self, generation: int, slot: int, vectors: NDArray[np.float32], *, repair: bool = False
    ) -> None:
        """Writes rows from `slot` on and syncs them. Rows beyond the database's count, left by a
        crash, are overwritten: no reader knows of them. Raises CorruptStore where the file ends
        before `slot`, unless a `repair` is about to replace what is missing."""
        data = np.ascontiguousarray(vectors, dtype="<f4").tobytes()
        path = self.path(generation)
        if slot and not repair:
            # Writing beyond a lost or shortened file's end would fill the gap with zeros, and
            # everything in it would be answered as if it were at distance 1.
            self.check(generation, slot)
        elif not path.exists():
            path.touch(0o644)
            _sync(self._folder)
        descriptor = os.open(path, os.O_RDWR)
        try:
            written = 0
            offset = slot * self._dimension * 4
            while written < len(data):
                written += os.pwrite(descriptor, data[written:], offset + written)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def remove_others(self, generation: int) -> None:
        """Deletes the files of every other generation."""
        for path in self._folder.glob("vectors-*.f32"):
            if path != self.path(generation):
                path.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Makes a new file's name as durable as what will stand in it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def window_slots(first: NDArray[np.int64], windows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every slot of passages that begin at `first` and have `windows` each, in their order; both
    shape (n,), n >= 1."""
    ends = np.cumsum(windows)
    return np.repeat(first - ends + windows, windows) + np.arange(ends[-1])
