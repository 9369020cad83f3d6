"""An ingest killed at random moments and resumed loses nothing, doubles nothing and never calls
a half-written paper complete. `ASKEM_KILL_ROUNDS` sets how often it is killed (default 10)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import tantivy

from askem.models import SourceKey
from askem.ports import StoredCounts
from askem.stores.embedded import EmbeddedStore
from askem.stores.embedded.verify import EmbeddedVerifier
from askem.testing.fakes import FakeEncoder
from askem.text.preprocessing import get_preprocessor

ROUNDS = int(os.environ.get("ASKEM_KILL_ROUNDS", "10"))
PAPERS = 60
ENCODER = FakeEncoder(16, window=16)
WORDS = "virus spike lung model dose trial soil carbon tremor vent phage host".split()

WORKER = """
import random, sys
from pathlib import Path
from askem.ingestion import IngestPipeline
from askem.ingestion.files import list_sources
from askem.ingestion.pipeline import SourceInput
from askem.stores.embedded import EmbeddedStore
from askem.testing.fakes import FakeEncoder
from askem.text.preprocessing import get_preprocessor

papers, data, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
encoder = FakeEncoder(16, window=16)
sources = [
    SourceInput(source.key, source.path.read_bytes(), ("covid-19",))
    for source in list_sources(papers, "paragraph").sources
]
random.Random(seed).shuffle(sources)
with EmbeddedStore.open(data, encoder) as store:
    pipeline = IngestPipeline(
        encoder=encoder, writer=store.writer, ledger=store.ledger,
        preprocessor=get_preprocessor("paragraphs-v1"),
    )
    print("started", flush=True)
    # Several small runs in place of a large one: more moments to be killed at.
    for start in range(0, len(sources), 5):
        for receipt in pipeline.ingest(sources[start : start + 5]):
            print(receipt.status, receipt.paper_id, flush=True)
"""


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(PAPERS):
        write_paper(folder, number, version=0)
    return folder


def write_paper(folder: Path, number: int, version: int) -> None:
    """Between 1 and 9 paragraphs, some beyond the encoder's window, others every version."""
    chance = random.Random(f"{number} {version}")
    paragraphs = [
        f"v{version} " + " ".join(chance.choices(WORDS, k=chance.randint(3, 40)))
        for _ in range(chance.randint(1, 9))
    ]
    (folder / f"paper-{number}.txt").write_text("\n\n".join(paragraphs))


def start(papers: Path, data: Path, seed: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(papers), str(data), str(seed)],
        stdout=subprocess.PIPE,
        text=True,
    )


def statuses(process: subprocess.Popen[str]) -> Counter[str]:
    """How many receipts of each status a process that ends by itself has printed."""
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return Counter(line.split()[0] for line in printed.splitlines()[1:])


def kill_at_random(process: subprocess.Popen[str], chance: random.Random) -> bool:
    """Kills it some lines and some milliseconds after its start; whether it still ran."""
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    for _ in range(chance.choice([0, 0, 5, 10, 20])):
        process.stdout.readline()
    time.sleep(chance.uniform(0, 0.15))
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    return process.returncode == -signal.SIGKILL


def expected(papers: Path) -> dict[str, str]:
    """Every passage id and text that the files have."""
    preprocess = get_preprocessor("paragraphs-v1")
    return {
        SourceKey(path.stem, "paragraph").passage_id(order): text
        for path in papers.iterdir()
        for order, text in enumerate(preprocess(path.read_text()))
    }


def assert_complete_means_whole(data: Path) -> None:
    with EmbeddedStore.open(data, ENCODER) as store:
        complete = [entry for entry in store.ledger.entries() if entry.state == "complete"]
        counts = store.writer.counts([entry.key for entry in complete])
        assert counts == [StoredCounts(entry.passages, entry.passages) for entry in complete]


def assert_holds_exactly(data: Path, papers: Path) -> None:
    wanted = expected(papers)
    with EmbeddedStore.open(data, ENCODER) as store:
        report = EmbeddedVerifier(store, ENCODER).check()
        assert report.findings == []
        assert (report.sources, report.passages) == (PAPERS, len(wanted))
        found = store.reader.passages(list(wanted))
        assert {key: passage.text for key, passage in found.items()} == wanted
        assert sparse_documents(store) == len(wanted)
        assert all(entry.state == "complete" for entry in store.ledger.entries())


def sparse_documents(store: EmbeddedStore) -> int:
    searcher = store.sparse_files.open().searcher()
    return int(searcher.search(tantivy.Query.all_query(), limit=1, count=True).count or 0)


def test_kill_and_resume(papers: Path, tmp_path: Path) -> None:
    data, killed = tmp_path / "data", 0
    chance = random.Random(0)
    for version in range(1, ROUNDS + 1):
        killed += kill_at_random(start(papers, data, seed=version), chance)
        assert_complete_means_whole(data)
        # So that there is always something left to do.
        for number in chance.sample(range(PAPERS), PAPERS // 3):
            write_paper(papers, number, version)
    assert killed >= ROUNDS // 4
    statuses(start(papers, data, seed=0))
    assert_holds_exactly(data, papers)


def state(store: EmbeddedStore) -> tuple[object, ...]:
    entries = [(entry.key, entry.content_hash, entry.passages) for entry in store.ledger.entries()]
    return store.reader.snapshot(), entries


def files(data: Path) -> list[tuple[str, int, int]]:
    return [
        (path.name, path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted([*data.glob("vectors-*"), *data.glob("sparse/*.*")])
    ]


def test_two_ingests_at_once_store_what_one_does(papers: Path, tmp_path: Path) -> None:
    alone, both = tmp_path / "alone", tmp_path / "both"
    assert statuses(start(papers, alone, seed=1)) == {"created": PAPERS}
    processes = [start(papers, both, seed) for seed in (2, 3)]
    done = sum((statuses(process) for process in processes), Counter())
    assert done["created"] == PAPERS
    assert done["created"] + done["unchanged"] == 2 * PAPERS
    assert_holds_exactly(both, papers)
    with (
        EmbeddedStore.open(alone, ENCODER) as first,
        EmbeddedStore.open(both, ENCODER) as second,
    ):
        assert state(first) == state(second)


def test_a_repeat_writes_nothing(papers: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    statuses(start(papers, data, seed=1))
    before = files(data)
    assert len(before) > 3
    assert statuses(start(papers, data, seed=2)) == {"unchanged": PAPERS}
    assert files(data) == before
    assert_holds_exactly(data, papers)
