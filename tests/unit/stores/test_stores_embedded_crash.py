"""A write that stops between any two of its steps is healed by the next one, and nobody sees
anything wrong meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from askem.errors import AskemError
from askem.models import Filters
from askem.ports import EncodedSource, StoredCounts
from askem.stores.embedded import EmbeddedStore
from askem.stores.embedded.sparse_files import FOLDER, SparseDocument, SparseFiles
from askem.stores.embedded.vectors import VectorFile
from askem.stores.embedded.verify import EmbeddedVerifier
from askem.stores.embedded.writer import EmbeddedWriter
from askem.testing.contract import assert_same_neighbours, make_source, model_of
from askem.testing.fakes import FakeEncoder, FakeStore

TERMS = ["infect", "model", "transmiss"]
QUESTION = "infection model"


class Crash(Exception):
    """The process dies here."""


class CrashAfterVectors(VectorFile):
    def append(self, generation: int, slot: int, vectors: NDArray[np.float32]) -> None:
        super().append(generation, slot, vectors)
        raise Crash


class CrashAmongVectors(VectorFile):
    def append(self, generation: int, slot: int, vectors: NDArray[np.float32]) -> None:
        super().append(generation, slot, vectors[: len(vectors) // 2])
        raise Crash


class CrashBeforeSparse(SparseFiles):
    def apply(self, drop: Sequence[int], add: Iterable[SparseDocument]) -> None:
        raise Crash


class CrashWithinSparse(SparseFiles):
    def apply(self, drop: Sequence[int], add: Iterable[SparseDocument]) -> None:
        super().apply(drop, first_then_crash(add))


class CrashAfterSparse(SparseFiles):
    def apply(self, drop: Sequence[int], add: Iterable[SparseDocument]) -> None:
        super().apply(drop, add)
        raise Crash


def first_then_crash(documents: Iterable[SparseDocument]) -> Iterator[SparseDocument]:
    yield next(iter(documents))
    raise Crash


BEFORE_COMMIT = [(CrashAfterVectors, SparseFiles), (CrashAmongVectors, SparseFiles)]
AFTER_COMMIT = [
    (VectorFile, CrashBeforeSparse),
    (VectorFile, CrashWithinSparse),
    (VectorFile, CrashAfterSparse),
]
Parts = tuple[type[VectorFile], type[SparseFiles]]


@pytest.fixture(
    params=BEFORE_COMMIT + AFTER_COMMIT, ids=lambda pair: "-".join(part.__name__ for part in pair)
)
def parts(request: pytest.FixtureRequest) -> Parts:
    found: Parts = request.param
    return found


@pytest.fixture
def earlier(encoder: FakeEncoder) -> list[EncodedSource]:
    changed = ["infection of the lung", "a model of transmission", "infection model"]
    return [
        make_source("changed", changed, encoder),
        make_source("kept", ["infection and transmission", "the old model"], encoder),
    ]


@pytest.fixture
def later(encoder: FakeEncoder) -> list[EncodedSource]:
    return [
        make_source("changed", ["transmission by air", "infection model"], encoder, topics=("t",)),
        make_source("new", ["infection model, again", "transmission"], encoder),
    ]


def crash(folder: Path, encoder: FakeEncoder, parts: Parts, sources: list[EncodedSource]) -> None:
    """What another process does that dies while it writes `sources`."""
    vectors, sparse = parts
    writer = EmbeddedWriter(
        folder, vectors(folder, encoder.dimension), sparse(folder), encoder.encoder_id
    )
    with pytest.raises(Crash):
        writer.replace(sources)
    writer.close()


def assert_nothing_wrong(store: EmbeddedStore, encoder: FakeEncoder, model: FakeStore) -> None:
    """The dense leg and the texts are the model's; the sparse leg may lack passages only."""
    vector = encoder.encode_question(QUESTION)
    for filters in (Filters(), Filters(topic="t"), Filters(paper_ids=("changed",))):
        found = store.dense.search(vector, 10, filters)
        assert_same_neighbours(found, model, vector, 10, filters, None, 1e-6)
        screened = store.sparse.screen(TERMS, 10, filters)
        wanted = model.screen(TERMS, 10, filters)
        figures = dict(zip(wanted.passage_ids, wanted.bm25, strict=True))
        assert set(screened.passage_ids) <= set(figures)
        np.testing.assert_allclose(
            screened.bm25, [figures[key] for key in screened.passage_ids], atol=1e-9
        )
    ids = [f"{paper}#p{order}" for paper in ("changed", "kept", "new") for order in range(4)]
    assert store.reader.passages(ids) == model.passages(ids)


def assert_complete(store: EmbeddedStore, encoder: FakeEncoder, model: FakeStore) -> None:
    assert_nothing_wrong(store, encoder, model)
    screened = store.sparse.screen(TERMS, 10, Filters())
    assert screened.passage_ids == model.screen(TERMS, 10, Filters()).passage_ids
    report = EmbeddedVerifier(store, encoder).check()
    assert report.passages == report.sparse == report.dense
    # These sources were written past the pipeline, so the ledger alone knows nothing of them.
    assert all("not in the ledger" in finding for finding in report.findings)


def test_readers_see_the_old_passages_or_the_new_never_a_mixture(
    store: EmbeddedStore,
    encoder: FakeEncoder,
    parts: Parts,
    earlier: list[EncodedSource],
    later: list[EncodedSource],
) -> None:
    store.writer.replace(earlier)
    assert_nothing_wrong(store, encoder, model_of(earlier, encoder))
    crash(store.data_dir, encoder, parts, later)
    holds = earlier if parts in BEFORE_COMMIT else [*later, earlier[1]]
    model = model_of(holds, encoder)
    assert_nothing_wrong(store, encoder, model)
    with EmbeddedStore.open(store.data_dir, encoder) as fresh:
        assert_nothing_wrong(fresh, encoder, model)


def test_the_next_write_finishes_what_was_left_undone(
    store: EmbeddedStore,
    encoder: FakeEncoder,
    parts: Parts,
    earlier: list[EncodedSource],
    later: list[EncodedSource],
) -> None:
    store.writer.replace(earlier)
    crash(store.data_dir, encoder, parts, later)
    unrelated = make_source("unrelated", ["model of transmission"], encoder)
    with EmbeddedStore.open(store.data_dir, encoder) as fresh:
        fresh.writer.replace([unrelated])
        holds = earlier if parts in BEFORE_COMMIT else [*later, earlier[1]]
        model = model_of([*holds, unrelated], encoder)
        assert_complete(fresh, encoder, model)
    assert_complete(store, encoder, model)


def test_the_same_write_again_succeeds(
    store: EmbeddedStore,
    encoder: FakeEncoder,
    parts: Parts,
    earlier: list[EncodedSource],
    later: list[EncodedSource],
) -> None:
    store.writer.replace(earlier)
    for _ in range(2):
        crash(store.data_dir, encoder, parts, later)
    store.writer.replace(later)
    assert_complete(store, encoder, model_of([*later, earlier[1]], encoder))
    assert store.writer.counts([later[0].key]) == [StoredCounts(2, 2)]


@pytest.mark.parametrize("sparse", [CrashBeforeSparse, CrashAfterSparse])
def test_a_delete_that_was_cut_short_is_finished_by_the_next_write(
    store: EmbeddedStore,
    encoder: FakeEncoder,
    sparse: type[SparseFiles],
    earlier: list[EncodedSource],
) -> None:
    store.writer.replace(earlier)
    writer = EmbeddedWriter(
        store.data_dir, store.vectors, sparse(store.data_dir), encoder.encoder_id
    )
    with pytest.raises(Crash):
        writer.delete([earlier[0].key])
    writer.close()
    model = model_of(earlier[1:], encoder)
    assert_nothing_wrong(store, encoder, model)
    store.writer.delete([])
    assert_complete(store, encoder, model)


def test_a_failed_write_leaves_the_sparse_index_unlocked(
    store: EmbeddedStore, encoder: FakeEncoder, earlier: list[EncodedSource]
) -> None:
    """Even while the error is still held by somebody."""
    writer = EmbeddedWriter(
        store.data_dir, store.vectors, CrashWithinSparse(store.data_dir), encoder.encoder_id
    )
    with pytest.raises(Crash) as held:
        writer.replace(earlier)
    writer.close()
    store.writer.replace(earlier)
    assert held.type is Crash
    assert_complete(store, encoder, model_of(earlier, encoder))


def test_a_compaction_that_was_cut_short_changes_nothing(
    store: EmbeddedStore, encoder: FakeEncoder, earlier: list[EncodedSource]
) -> None:
    store.writer.replace(earlier)
    writer = EmbeddedWriter(
        store.data_dir,
        CrashAfterVectors(store.data_dir, encoder.dimension),
        store.sparse_files,
        encoder.encoder_id,
    )
    with pytest.raises(Crash):
        writer.compact()
    writer.close()
    model = model_of(earlier, encoder)
    assert_complete(store, encoder, model)
    store.writer.compact()
    assert_complete(store, encoder, model)


def test_files_of_a_commit_that_was_cut_short_are_not_in_the_way(
    store: EmbeddedStore, encoder: FakeEncoder, earlier: list[EncodedSource]
) -> None:
    """Tantivy names the files of a commit alike each time, and never overwrites one."""
    store.writer.replace(earlier)
    meta = store.data_dir / FOLDER / "meta.json"
    before = meta.read_bytes()
    store.sparse_files.apply([1], [])
    # What a process leaves that is killed before its last step.
    meta.write_bytes(before)
    store.sparse_files.apply([1], [])
    assert store.writer.counts([earlier[0].key]) == [StoredCounts(2, 3)]


def test_an_index_that_cannot_be_written_is_an_error_of_ours(
    store: EmbeddedStore, encoder: FakeEncoder, earlier: list[EncodedSource]
) -> None:
    store.writer.replace(earlier)
    with (
        store.sparse_files.open().writer(15_000_000) as _,
        pytest.raises(AskemError, match="index"),
    ):
        store.writer.replace(earlier)
