"""Opening a data folder, sharing it, and running out of room in it."""

from __future__ import annotations

import multiprocessing
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from askem.errors import BackendUnavailable, ConfigurationError, CorruptStore, EncoderMismatch
from askem.models import Filters
from askem.ports import EncodedSource
from askem.stores.embedded import EmbeddedStore
from askem.stores.embedded.access import Access
from askem.stores.embedded.dense import EmbeddedDense
from askem.stores.embedded.schema import DATABASE
from askem.stores.embedded.sparse_files import FOLDER
from askem.stores.embedded.vectors import VectorFile
from askem.stores.embedded.writer import EmbeddedWriter
from askem.testing.contract import make_source
from askem.testing.fakes import FakeEncoder

OTHER = FakeEncoder(32)


@pytest.fixture
def source(encoder: FakeEncoder) -> EncodedSource:
    return make_source("a", ["infection model", "transmission of infection"], encoder)


def found_by_both(store: EmbeddedStore, encoder: FakeEncoder) -> tuple[list[str], list[str]]:
    vector = encoder.encode_question("infection")
    sparse = store.sparse.screen(["infect"], 10, Filters()).passage_ids
    return sorted(sparse), sorted(store.dense.search(vector, 10, Filters()).passage_ids)


# Encoders


def test_another_encoder_is_refused_and_both_are_named(
    store: EmbeddedStore, source: EncodedSource
) -> None:
    store.writer.replace([source])
    with pytest.raises(EncoderMismatch, match=r"fake-16.*fake-32"):
        EmbeddedStore.open(store.data_dir, OTHER)


def test_an_empty_index_takes_any_encoder(tmp_path: Path, source: EncodedSource) -> None:
    EmbeddedStore.open(tmp_path, OTHER).close()
    with EmbeddedStore.open(tmp_path, FakeEncoder(16, window=8)) as store:
        store.writer.replace([source])
        assert store.reader.snapshot().encoder_id == "fake-16"


def test_an_emptied_index_takes_any_encoder(store: EmbeddedStore, source: EncodedSource) -> None:
    store.writer.replace([source])
    store.writer.delete([source.key])
    with EmbeddedStore.open(store.data_dir, OTHER) as other:
        assert found_by_both(other, OTHER) == ([], [])
        other.writer.replace([make_source("a", ["infection"], OTHER)])
        assert found_by_both(other, OTHER) == (["a#p0"], ["a#p0"])


def test_a_writer_whose_index_became_another_encoders_is_refused(
    store: EmbeddedStore, source: EncodedSource
) -> None:
    EmbeddedStore.open(store.data_dir, OTHER).close()
    with pytest.raises(EncoderMismatch, match="fake-32"):
        store.writer.replace([source])


def test_a_reader_whose_index_became_another_encoders_is_refused(
    store: EmbeddedStore, encoder: FakeEncoder, source: EncodedSource
) -> None:
    store.writer.replace([source])
    store.writer.delete([source.key])
    with EmbeddedStore.open(store.data_dir, OTHER) as other:
        other.writer.replace([make_source("a", ["infection"], OTHER)])
        with pytest.raises(EncoderMismatch, match="fake-32"):
            found_by_both(store, encoder)


# Folders that cannot be used


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(ConfigurationError, match=r"ASKEM_DATA_DIR: cannot use .*data"):
        EmbeddedStore.open(tmp_path / "data", OTHER)


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes(b"no database" * 1000)
    with pytest.raises(ConfigurationError, match="ASKEM_DATA_DIR: cannot use"):
        EmbeddedStore.open(tmp_path, OTHER)


def test_another_schema_version_is_refused(store: EmbeddedStore, encoder: FakeEncoder) -> None:
    store.writer.connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    with pytest.raises(ConfigurationError, match="schema version 99"):
        EmbeddedStore.open(store.data_dir, encoder)


def test_a_lost_sparse_index_is_never_an_empty_answer(
    store: EmbeddedStore, encoder: FakeEncoder, source: EncodedSource
) -> None:
    store.writer.replace([source])
    assert found_by_both(store, encoder)[0]
    shutil.rmtree(store.data_dir / FOLDER)
    with EmbeddedStore.open(store.data_dir, encoder) as fresh:
        with pytest.raises(CorruptStore, match="verify --repair"):
            fresh.sparse.screen(["infect"], 5, Filters())
        with pytest.raises(CorruptStore, match="verify --repair"):
            fresh.writer.replace([source])
        with pytest.raises(CorruptStore, match="verify --repair"):
            fresh.writer.counts([source.key])
    # A reader that had it open learns of it with the next commit.
    with pytest.raises(CorruptStore, match="verify --repair"):
        store.sparse.screen(["infect"], 5, Filters())


def test_a_vector_file_that_is_too_short_is_an_error(
    store: EmbeddedStore, encoder: FakeEncoder, source: EncodedSource
) -> None:
    store.writer.replace([source])
    store.vectors.path(1).unlink()
    with EmbeddedStore.open(store.data_dir, encoder) as fresh:
        for within in (None, ["a#p0"]):
            with pytest.raises(CorruptStore, match="verify --repair"):
                fresh.dense.search(encoder.encode_question("model"), 5, Filters(), within)


# Several at once


def open_together(folder: Path, together: Barrier) -> None:
    for number in range(20):
        together.wait(timeout=20)
        EmbeddedStore.open(folder / str(number), OTHER).close()


def test_several_processes_may_make_a_folder_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    together = context.Barrier(3)
    processes = [context.Process(target=open_together, args=(tmp_path, together)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=60)
    assert [process.exitcode for process in processes] == [0, 0, 0]


def test_a_reader_opens_while_a_writer_is_at_work(
    store: EmbeddedStore, encoder: FakeEncoder, source: EncodedSource
) -> None:
    store.writer.replace([source])
    with store.writer.exclusive(), ThreadPoolExecutor(1) as pool:
        opened = pool.submit(EmbeddedStore.open, store.data_dir, encoder).result(timeout=20)
    assert found_by_both(opened, encoder)[0] == ["a#p0", "a#p1"]
    opened.close()


def test_readers_in_many_threads_see_whole_versions_only(
    store: EmbeddedStore, encoder: FakeEncoder
) -> None:
    """Every version has as many passages as its number says, of one topic of its own."""
    versions = [
        make_source("a", [f"infection {n}"] * n, encoder, topics=(f"t{n}",)) for n in range(1, 6)
    ]
    done = threading.Event()

    def read() -> set[int]:
        seen: set[int] = set()
        vector = encoder.encode_question("infection")
        while not done.is_set():
            summary = store.reader.paper("a")
            if summary is not None:
                assert summary.topics == (f"t{summary.paragraphs}",)
            for n in range(1, 6):
                found = store.dense.search(vector, 100, Filters(topic=f"t{n}"))
                assert len(found.passage_ids) in {0, n}
                assert len(store.sparse.screen(["infect"], 9, Filters()).passage_ids) <= 5
            seen.add(summary.paragraphs if summary else 0)
        return seen

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        try:
            for source in versions:
                store.writer.replace([source])
                store.writer.compact()
        finally:
            done.set()
        assert all(reader.result() <= set(range(6)) for reader in readers)


def test_readers_follow_a_compaction(
    store: EmbeddedStore, encoder: FakeEncoder, source: EncodedSource
) -> None:
    store.writer.replace([make_source("gone", ["infection"] * 20, encoder), source])
    before = found_by_both(store, encoder)
    store.writer.delete([make_source("gone", [], encoder).key])
    store.writer.compact()
    assert found_by_both(store, encoder) == (["a#p0", "a#p1"], ["a#p0", "a#p1"])
    assert len(before[0]) == 10
    assert not store.vectors.path(1).exists()
    assert store.vectors.path(2).stat().st_size == 2 * encoder.dimension * 4


class CompactedMeanwhile(VectorFile):
    """Just before a reader maps the file, a writer moves all vectors to another."""

    def __init__(self, store: EmbeddedStore, dimension: int) -> None:
        super().__init__(store.data_dir, dimension)
        self._moves: Iterator[None] = self._move(store)

    def view(self, generation: int, slots: int) -> NDArray[np.float32]:
        next(self._moves, None)
        return super().view(generation, slots)

    def _move(self, store: EmbeddedStore) -> Iterator[None]:
        store.writer.compact()
        yield


@pytest.mark.parametrize("within", [None, ["a#p0", "a#p1"]])
@pytest.mark.parametrize("filters", [Filters(), Filters(paper_ids=("a",))])
def test_a_compaction_during_a_search_does_not_show(
    store: EmbeddedStore,
    encoder: FakeEncoder,
    source: EncodedSource,
    within: list[str] | None,
    filters: Filters,
) -> None:
    gone = make_source("gone", ["transmission"] * 3, encoder)
    store.writer.replace([gone, source])
    store.writer.delete([gone.key])
    vectors = CompactedMeanwhile(store, encoder.dimension)
    access = Access(store.data_dir, vectors, store.sparse_files, encoder.encoder_id)
    vector = encoder.encode_question("infection model")
    found = EmbeddedDense(access).search(vector, 5, filters, within)
    access.close()
    assert found.passage_ids == ["a#p0", "a#p1"]
    assert found.distances[0] == pytest.approx(0.0, abs=1e-6)


def test_many_dead_vectors_are_compacted_away(store: EmbeddedStore, encoder: FakeEncoder) -> None:
    source = make_source("long", ["infection"], encoder)
    windows = np.tile(source.vectors[0], (10_001, 1))
    long = replace(source, vectors=(windows,))
    for version in (long, long, source):
        store.writer.replace([version])
    assert store.vectors.path(2).stat().st_size == encoder.dimension * 4
    assert found_by_both(store, encoder) == (["long#p0"], ["long#p0"])


# No room


def fill_up(connection: sqlite3.Connection) -> None:
    """SQLite then fails as it does on a full disk."""
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")


def test_a_full_disk_is_an_error_of_ours_and_changes_nothing(
    store: EmbeddedStore, encoder: FakeEncoder, source: EncodedSource
) -> None:
    store.writer.replace([source])
    fill_up(store.writer.connection)
    large = make_source("large", [f"infection {n} {'x' * 5000}" for n in range(50)], encoder)
    with pytest.raises(BackendUnavailable, match="full"):
        store.writer.replace([large])
    assert found_by_both(store, encoder) == (["a#p0", "a#p1"], ["a#p0", "a#p1"])
    store.writer.connection.execute("PRAGMA max_page_count = 1000000")
    store.writer.replace([large])
    assert store.reader.snapshot().passages == 52


class NoRoom(VectorFile):
    def append(self, generation: int, slot: int, vectors: NDArray[np.float32]) -> None:
        raise OSError(28, "No space left on device")


def test_no_room_for_vectors_is_an_error_of_ours(
    store: EmbeddedStore, encoder: FakeEncoder, source: EncodedSource
) -> None:
    vectors = NoRoom(store.data_dir, encoder.dimension)
    writer = EmbeddedWriter(store.data_dir, vectors, store.sparse_files, encoder.encoder_id)
    with pytest.raises(BackendUnavailable, match="No space left"):
        writer.replace([source])
    writer.close()
    assert found_by_both(store, encoder) == ([], [])


def test_a_write_after_the_vector_file_was_lost_is_refused(
    store: EmbeddedStore, encoder: FakeEncoder, source: EncodedSource
) -> None:
    """Else the gap would be filled with zeros, and answered as passages at distance 1."""
    store.writer.replace([source])
    store.vectors.path(1).unlink()
    with pytest.raises(CorruptStore, match="verify --repair"):
        store.writer.replace([make_source("b", ["infection"], encoder)])
    assert not store.vectors.path(1).exists()


@pytest.mark.parametrize("lost", ["vectors-1.f32", "sparse"])
def test_a_store_that_lost_a_file_says_so_when_asked_how_it_is(
    store: EmbeddedStore, source: EncodedSource, lost: str
) -> None:
    store.writer.replace([source])
    assert store.reader.snapshot().passages == len(source.passages)
    (store.data_dir / lost).rename(store.data_dir / "elsewhere")
    with pytest.raises(CorruptStore, match="verify --repair"):
        store.reader.snapshot()
