"""`verify` names every kind of damage, and `--repair` makes searches answer as before it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from askem.ingestion import IngestPipeline
from askem.ingestion.pipeline import SourceInput
from askem.models import Filters, SourceKey
from askem.stores.embedded import EmbeddedStore
from askem.stores.embedded.schema import DATABASE
from askem.stores.embedded.sparse_files import FOLDER, SparseDocument, SparseFiles
from askem.stores.embedded.verify import EmbeddedVerifier
from askem.stores.embedded.writer import sparse_documents
from askem.stores.report import VerifyReport
from askem.testing.fakes import FakeEncoder
from askem.text.preprocessing import get_preprocessor

PAPERS = {
    "a": "An infection model of SARS-CoV-2.\n\nTransmission by air, in nine stages.",
    "b": "Soil carbon rose.\n\nThe infection of vines.\n\nA model of transmission.",
    "c.1": "Tremor preceded the eruption of the volcano.",
}
QUESTIONS = ["infection model", "transmission stages", "volcano eruption"]
TERMS = ["infect", "model", "transmiss", "volcano"]
Damage = Callable[[Path, sqlite3.Connection], object]


@pytest.fixture
def folder(tmp_path: Path, encoder: FakeEncoder) -> Path:
    """A data folder with three papers, and nobody who has it open."""
    with EmbeddedStore.open(tmp_path, encoder) as store:
        pipeline = IngestPipeline(
            encoder=encoder,
            writer=store.writer,
            ledger=store.ledger,
            preprocessor=get_preprocessor("paragraphs-v1"),
        )
        sources = [
            SourceInput(SourceKey(paper, "paragraph"), text.encode(), ("covid-19",))
            for paper, text in PAPERS.items()
        ]
        assert [receipt.status for receipt in pipeline.ingest(sources)] == ["created"] * 3
    return tmp_path


def answers(folder: Path, encoder: FakeEncoder) -> list[object]:
    """All that searches and listings say."""
    with EmbeddedStore.open(folder, encoder) as store:
        said: list[object] = [store.reader.snapshot(), store.reader.topics()]
        for filters in (Filters(), Filters(paper_ids=("a",)), Filters(paragraph_terms=("SARS",))):
            screened = store.sparse.screen(TERMS, 10, filters)
            said.append((screened.passage_ids, screened.bm25.tolist(), screened.idf.tolist()))
            for question in QUESTIONS:
                found = store.dense.search(encoder.encode_question(question), 10, filters)
                said.append((found.passage_ids, np.round(found.distances, 5).tolist()))
    return said


def verify(folder: Path, encoder: FakeEncoder, *, repair: bool = False) -> VerifyReport:
    with EmbeddedStore.open(folder, encoder) as store:
        verifier = EmbeddedVerifier(store, encoder)
        return verifier.repair() if repair else verifier.check()


def lose_sparse_folder(folder: Path, database: sqlite3.Connection) -> None:
    shutil.rmtree(folder / FOLDER)


def lose_sparse_meta(folder: Path, database: sqlite3.Connection) -> None:
    (folder / FOLDER / "meta.json").unlink()


def lose_sparse_segment(folder: Path, database: sqlite3.Connection) -> None:
    for path in (folder / FOLDER).glob("*.idx"):
        path.unlink()


def cut_sparse_segments(folder: Path, database: sqlite3.Connection) -> None:
    for path in (folder / FOLDER).glob("*.idx"):
        path.write_bytes(b"")


def flip_sparse_bytes(folder: Path, database: sqlite3.Connection) -> None:
    for path in (folder / FOLDER).glob("*.*"):
        if path.name != "meta.json":
            path.write_bytes(bytes(byte ^ 0xFF for byte in path.read_bytes()))


def lose_sparse_row(folder: Path, database: sqlite3.Connection) -> None:
    SparseFiles(folder).apply([1, 2], [])


def lose_all_vectors(folder: Path, database: sqlite3.Connection) -> None:
    (folder / "vectors-1.f32").unlink()


def cut_vectors(folder: Path, database: sqlite3.Connection) -> None:
    with (folder / "vectors-1.f32").open("r+b") as file:
        file.truncate(100)


def flip_a_byte(folder: Path, database: sqlite3.Connection) -> None:
    with (folder / "vectors-1.f32").open("r+b") as file:
        file.seek(70)
        byte = file.read(1)[0]
        file.seek(70)
        file.write(bytes([byte ^ 0x40]))


def sql(*statements: str) -> Damage:
    def damage(folder: Path, database: sqlite3.Connection) -> None:
        for statement in statements:
            assert database.execute(statement).rowcount > 0

    damage.__name__ = statements[0].replace(" ", "_")
    return damage


DAMAGES: list[tuple[Damage, str]] = [
    (lose_sparse_folder, "b#p1: not in the sparse index"),
    (lose_sparse_meta, "b#p1: not in the sparse index"),
    (lose_sparse_segment, "b#p1: not in the sparse index"),
    (cut_sparse_segments, "b#p1: not in the sparse index"),
    (flip_sparse_bytes, "b#p1: not in the sparse index"),
    (lose_sparse_row, "a#p0: not in the sparse index"),
    (lose_all_vectors, "c.1#p0: vectors are damaged or missing"),
    (cut_vectors, "b#p0: vectors are damaged or missing"),
    (flip_a_byte, "a#p1: vectors are damaged or missing"),
    (sql("DELETE FROM ledger"), "c.1 paragraph: stored, but not in the ledger"),
    (sql("DELETE FROM ledger WHERE paper_id = 'a'"), "a paragraph: stored, but not in the ledger"),
    (sql("UPDATE ledger SET state = 'pending'"), "b paragraph: the ledger says pending"),
    (sql("UPDATE ledger SET passages = 7 WHERE paper_id = 'b'"), "b paragraph: the ledger says"),
    (sql("UPDATE ledger SET topics = '[]' WHERE paper_id = 'b'"), "b paragraph: the ledger says"),
    (sql("UPDATE lexicon SET df = df + 1 WHERE term = 'infect'"), "document frequencies differ"),
    (sql("UPDATE lexicon SET df = 0"), "document frequencies differ"),
    (sql("UPDATE meta SET value = '5' WHERE key = 'passages'"), "say 5 passages, counted are 6"),
    (sql("UPDATE meta SET value = '1' WHERE key = 'tokens'"), "say 1 tokens, counted are"),
    (sql("UPDATE meta SET value = '99' WHERE key = 'live_slots'"), "say 99 live_slots"),
    (sql("INSERT INTO outbox VALUES (2), (999)"), "2 changes wait for the sparse index"),
]


@pytest.mark.parametrize(
    ("damage", "finding"), DAMAGES, ids=lambda part: getattr(part, "__name__", "")
)
def test_damage_is_named_and_mended(
    folder: Path, encoder: FakeEncoder, damage: Damage, finding: str
) -> None:
    before = answers(folder, encoder)
    database = sqlite3.connect(folder / DATABASE, isolation_level=None)
    damage(folder, database)
    database.close()
    report = verify(folder, encoder)
    assert not report.agrees
    assert any(finding in named for named in report.findings), report.findings
    assert verify(folder, encoder, repair=True).findings == []
    assert verify(folder, encoder).agrees
    assert answers(folder, encoder) == before


def test_a_sound_folder_agrees_and_its_repair_changes_nothing(
    folder: Path, encoder: FakeEncoder
) -> None:
    before, files = answers(folder, encoder), vector_files(folder)
    for repair in (False, True):
        report = verify(folder, encoder, repair=repair)
        assert report.agrees
        assert (report.sources, report.passages, report.sparse, report.dense) == (3, 6, 6, 6)
    assert answers(folder, encoder) == before
    assert vector_files(folder) == files


def vector_files(folder: Path) -> list[tuple[str, int, int]]:
    return [
        (path.name, path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(folder.glob("vectors-*"))
    ]


def test_an_empty_folder_agrees(tmp_path: Path, encoder: FakeEncoder) -> None:
    for repair in (False, True):
        report = verify(tmp_path, encoder, repair=repair)
        assert report.agrees
        assert report.passages == report.sources == 0


def test_passages_the_sparse_index_should_have_dropped_are_counted(
    folder: Path, encoder: FakeEncoder
) -> None:
    with EmbeddedStore.open(folder, encoder) as store:
        stale = SparseFiles(folder)
        documents = [document for document in _documents(store) if document.row_id == 1]
        store.writer.delete([SourceKey("a", "paragraph")])
        store.ledger.forget([SourceKey("a", "paragraph")])
        stale.apply([], documents)
    report = verify(folder, encoder)
    assert report.findings == ["1 passages in the sparse index that are gone"]
    assert (report.passages, report.sparse) == (4, 5)
    assert verify(folder, encoder, repair=True).agrees


def test_a_passage_twice_in_the_sparse_index_is_counted(folder: Path, encoder: FakeEncoder) -> None:
    with EmbeddedStore.open(folder, encoder) as store:
        SparseFiles(folder).apply([], _documents(store))
    assert not verify(folder, encoder).agrees
    assert verify(folder, encoder, repair=True).agrees


def test_what_the_ledger_has_and_the_store_lacks_is_ingested_again(
    folder: Path, encoder: FakeEncoder
) -> None:
    with EmbeddedStore.open(folder, encoder) as store:
        store.writer.delete([SourceKey("a", "paragraph")])
    named = "a paragraph: the ledger says complete, not stored; ingest its file again"
    assert verify(folder, encoder).findings == [named]
    assert verify(folder, encoder, repair=True).agrees
    with EmbeddedStore.open(folder, encoder) as store:
        entry = store.ledger.get(SourceKey("a", "paragraph"))
    assert entry is not None
    assert (entry.state, entry.passages) == ("failed", 0)


def test_a_figure_is_named_with_its_object(folder: Path, encoder: FakeEncoder) -> None:
    key = SourceKey("a", "figure", "obj-1")
    with EmbeddedStore.open(folder, encoder) as store:
        pipeline = IngestPipeline(
            encoder=encoder,
            writer=store.writer,
            ledger=store.ledger,
            preprocessor=get_preprocessor("figures-v1"),
        )
        list(pipeline.ingest([SourceInput(key, b"A caption of a model.", ("covid-19",))]))
        store.ledger.forget([key])
    assert verify(folder, encoder).findings == ["a figure obj-1: stored, but not in the ledger"]


def test_many_findings_of_a_kind_are_counted(tmp_path: Path, encoder: FakeEncoder) -> None:
    with EmbeddedStore.open(tmp_path, encoder) as store:
        pipeline = IngestPipeline(
            encoder=encoder,
            writer=store.writer,
            ledger=store.ledger,
            preprocessor=get_preprocessor("paragraphs-v1"),
        )
        text = "\n\n".join(f"infection {n}" for n in range(25)).encode()
        list(pipeline.ingest([SourceInput(SourceKey("a", "paragraph"), text, ("t",))]))
    (tmp_path / "vectors-1.f32").unlink()
    findings = verify(tmp_path, encoder).findings
    assert len(findings) == 21
    assert findings[-1] == "and 5 more: vectors are damaged or missing"


def test_readers_that_are_open_follow_a_repair(folder: Path, encoder: FakeEncoder) -> None:
    with EmbeddedStore.open(folder, encoder) as reading:
        before = reading.sparse.screen(TERMS, 10, Filters()).passage_ids
        shutil.rmtree(folder / FOLDER)
        assert verify(folder, encoder, repair=True).agrees
        assert reading.sparse.screen(TERMS, 10, Filters()).passage_ids == before
        with EmbeddedStore.open(folder, encoder) as writing:
            writing.writer.delete([SourceKey("b", "paragraph")])
        left = reading.sparse.screen(TERMS, 10, Filters()).passage_ids
        assert set(left) == {key for key in before if not key.startswith("b#")}


def _documents(store: EmbeddedStore) -> list[SparseDocument]:
    rows = [row for (row,) in store.writer.connection.execute("SELECT row_id FROM passages")]
    return list(sparse_documents(store.writer.connection, rows))
