"""The ingest as a process of its own: killed in mid-job, stopped in mid-job, two of them over one
folder. No source is lost, stored twice, or has two receipts."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from askem.stores.embedded import EmbeddedStore
from askem.stores.embedded.verify import EmbeddedVerifier
from askem.testing.fakes import FakeEncoder
from askem.testing.waiting import until

ROUNDS = int(os.environ.get("ASKEM_KILL_ROUNDS", "6"))
KEY = "test-key-0123456789"
ENCODER = FakeEncoder(16)
PARAGRAPHS = 100
SERVER = """
import sys, time
from contextlib import ExitStack
from pathlib import Path
from askem.http import server
from askem.http.compose import build_app
from askem.stores.embedded import EmbeddedStore
from askem.testing.fakes import FakeEncoder
from askem_ingest.app import make_service
from askem_ingest.settings import IngestSettings
from askem_ingest.state import Access, Components

data, pause_s, log = Path(sys.argv[1]), float(sys.argv[2]), open(sys.argv[3], "a")

class Logged(FakeEncoder):
    def encode_passages(self, texts):
        time.sleep(pause_s)
        for text in texts:
            print(text.split()[0], file=log, flush=True)
        return super().encode_passages(texts)

encoder = Logged(16)
with ExitStack() as stack:
    stores = [stack.enter_context(EmbeddedStore.open(data, encoder)) for _ in range(2)]
    parts = Components(encoder, *(Access(store.writer, store.ledger) for store in stores))
    app = build_app([make_service(IngestSettings(data_dir=data), parts)], api_keys=[sys.argv[4]])
    listener = server.listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    server.serve_until_stopped(app, listener, started=lambda: print(port, flush=True))
"""


class Server:
    """A running service, and a client of it."""

    def __init__(self, data: Path, log: Path, pause_s: float) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("ASKEM_")}
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(data), str(pause_s), str(log), KEY],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert self.process.stdout
        port = int(self.process.stdout.readline())
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"Api-Key": KEY}, timeout=30
        )

    def send(self, papers: dict[str, str], key: str | None = None) -> str:
        """Takes a job's address."""
        answer = self.client.post(
            "/jobs",
            files=[("files", (f"{name}.txt", text.encode())) for name, text in papers.items()],
            data={"topic": "soil", "preprocessor": "paragraphs-v1"},
            headers={"Idempotency-Key": key} if key else {},
        )
        assert answer.status_code == 202, answer.text
        return answer.headers["location"]

    def get(self, address: str) -> Any:
        answer = self.client.get(address, params={"limit": 1000})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def until(self, address: str, true: Callable[[Any], bool]) -> Any:
        """The job, once that is so."""

        def look() -> Any:
            job = self.get(address)
            return job if true(job) else None

        return until(look)

    def ended(self, address: str) -> Any:
        return self.until(address, lambda job: job["state"] in ("done", "failed"))

    def end(self, number: signal.Signals) -> int:
        self.client.close()
        self.process.send_signal(number)
        self.process.communicate(timeout=60)
        return self.process.returncode


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    running: list[Server] = []

    def start_one(pause_s: float = 0.0) -> Server:
        running.append(Server(tmp_path / "data", tmp_path / "log", pause_s))
        return running[-1]

    yield start_one
    for server in running:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


def papers(prefix: str, count: int) -> dict[str, str]:
    """So large that two of them are a batch; every paragraph begins with its name."""
    return {
        f"{prefix}{n}": "\n\n".join(f"{prefix}{n}-{p} virus." for p in range(PARAGRAPHS))
        for n in range(count)
    }


def assert_stored(data: Path, *groups: dict[str, str]) -> None:
    wanted = {name for group in groups for name in group}
    with EmbeddedStore.open(data, ENCODER) as store:
        report = EmbeddedVerifier(store, ENCODER).check()
        assert report.findings == []
        assert (report.sources, report.passages) == (len(wanted), len(wanted) * PARAGRAPHS)
        assert {entry.key.paper_id for entry in store.ledger.entries()} == wanted
        assert all(entry.state == "complete" for entry in store.ledger.entries())


def sources(job: Any) -> list[str]:
    return sorted(receipt["paper_id"] for receipt in job["receipts"])


def test_killed_in_mid_job_it_resumes_and_keeps_its_receipts(
    start: Callable[..., Server], tmp_path: Path
) -> None:
    group = papers("p", 16)
    server = start(0.03)
    address = server.send(group, "key")
    kept = server.until(address, lambda job: job["progress"]["done"] >= 2)["receipts"]
    server.end(signal.SIGKILL)
    server = start()
    # The answer to the upload may have been lost with the process: sending again is safe.
    assert server.send(group, "key") == address
    job = server.ended(address)
    assert (job["state"], sources(job)) == ("done", sorted(group))
    assert job["receipts"][: len(kept)] == kept
    assert {r["status"] for r in job["receipts"]} <= {"created", "unchanged"}
    assert server.end(signal.SIGTERM) == 0
    assert_stored(tmp_path / "data", group)
    assert not [path for path in (tmp_path / "data" / "jobs").iterdir() if path.is_dir()]


def test_killed_again_and_again(start: Callable[..., Server], tmp_path: Path) -> None:
    chance = random.Random(0)
    groups: list[dict[str, str]] = []
    addresses: list[str] = []
    server, interrupted = start(0.03), 0
    for number in range(ROUNDS):
        if not addresses or server.get(addresses[-1])["state"] == "done":
            groups.append(papers(f"r{number}-", 8))
            addresses.append(server.send(groups[-1]))
        time.sleep(chance.uniform(0, 0.6))
        server.end(signal.SIGKILL)
        server = start(0.03)
        job = server.get(addresses[-1])
        assert len(set(sources(job))) == len(job["receipts"]) == job["progress"]["done"]
        interrupted += job["state"] != "done"
    assert interrupted >= ROUNDS // 3
    for group, address in zip(groups, addresses, strict=True):
        job = server.ended(address)
        assert (job["state"], sources(job)) == ("done", sorted(group))
    server.end(signal.SIGKILL)
    assert_stored(tmp_path / "data", *groups)


def test_stopped_in_mid_job_it_ends_clean_and_resumes(
    start: Callable[..., Server], tmp_path: Path
) -> None:
    group = papers("p", 12)
    server = start(0.2)
    address = server.send(group)
    server.until(address, lambda job: job["progress"]["done"] >= 2)
    assert server.end(signal.SIGTERM) == 0
    server = start()
    job = server.ended(address)
    assert {r["status"] for r in job["receipts"]} == {"created"}
    assert sources(job) == sorted(group)
    server.end(signal.SIGTERM)
    assert_stored(tmp_path / "data", group)


def test_two_over_one_folder_run_no_job_twice(start: Callable[..., Server], tmp_path: Path) -> None:
    servers = [start(0.01), start(0.01)]
    groups = [papers(f"g{n}-", 4) for n in range(6)]
    addresses = [servers[n % 2].send(group) for n, group in enumerate(groups)]
    for n, (group, address) in enumerate(zip(groups, addresses, strict=True)):
        # Each of them knows all jobs.
        job = servers[(n + 1) % 2].ended(address)
        assert sources(job) == sorted(group)
        assert {r["status"] for r in job["receipts"]} == {"created"}
    for server in servers:
        server.end(signal.SIGTERM)
    assert_stored(tmp_path / "data", *groups)
    encoded = Counter((tmp_path / "log").read_text().split())
    assert set(encoded.values()) == {1}
    assert len(encoded) == 24 * PARAGRAPHS


def test_when_one_of_two_is_killed_the_other_takes_its_job_over(
    start: Callable[..., Server], tmp_path: Path
) -> None:
    first = start(0.05)
    group = papers("p", 12)
    address = first.send(group)
    first.until(address, lambda job: job["progress"]["done"] >= 2)
    second = start()
    first.end(signal.SIGKILL)
    job = second.ended(address)
    assert (job["state"], sources(job)) == ("done", sorted(group))
    second.end(signal.SIGTERM)
    assert_stored(tmp_path / "data", group)
