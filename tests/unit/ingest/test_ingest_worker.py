"""The worker: what it does when stores fail, when it is stopped, when a job cannot be done."""

from __future__ import annotations

import shutil
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from askem.errors import BackendUnavailable, ConfigurationError, CorruptStore
from askem.ingestion import IngestPipeline
from askem.models import SourceKey
from askem.ports import Encoder
from askem.testing.fakes import FakeEncoder
from askem.testing.waiting import until
from askem_ingest.app import FOLDER
from askem_ingest.job_rows import Job
from askem_ingest.jobs import JobStore
from askem_ingest.spool import MANIFEST, Manifest, Spool, SpooledSource
from askem_ingest.worker import LOCK_FILE, MAX_ATTEMPTS, Worker, slices


def send(door: Any, *names: str, text: str = "Some text.") -> Any:
    files = [("files", (name, text.encode())) for name in names]
    data = {"topic": "soil", "preprocessor": "paragraphs-v1"}
    return door.request("POST", "/jobs", files=files, data=data)


def readiness(door: Any) -> dict[str, Any]:
    checks = door.request("GET", "/readyz").json()["checks"]
    return {check["name"]: check for check in checks}


def test_an_outage_delays_a_job_and_does_not_fail_it(open_door: Any) -> None:
    failures = [BackendUnavailable("encoder", "secret")] * 2

    def hook(name: str) -> None:
        if name == "encode_passages" and failures:
            raise failures.pop()

    door = open_door(hook)
    job = door.job(send(door, "a.txt"))
    assert failures == []
    assert [r["status"] for r in job["receipts"]] == ["created"]


def test_readiness_tells_of_an_outage_and_nothing_inner(open_door: Any) -> None:
    down = threading.Event()
    down.set()

    def hook(name: str) -> None:
        if name == "encode_passages" and down.is_set():
            raise BackendUnavailable("encoder", "secret")

    door = open_door(hook)
    assert {name: check["ok"] for name, check in readiness(door).items()} == {
        "ingest worker": True,
        "ingest queue": True,
    }
    answer = send(door, "a.txt")
    # Papers are still taken in, and searches in the same process may work.
    until(lambda: readiness(door)["ingest worker"]["detail"].startswith("jobs wait"))
    found = door.request("GET", "/readyz")
    assert found.status_code == 200
    assert "secret" not in found.text
    down.clear()
    assert door.job(answer)["state"] == "done"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConfigurationError("secret"), "the index cannot take it"),
        (CorruptStore("secret"), "the index cannot take it"),
        (RuntimeError("secret"), "a fault of the service"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_done_fails_and_the_next_job_goes_on(
    open_door: Any, error: Exception, reason: str
) -> None:
    failures = [error]

    def hook(name: str) -> None:
        if name == "encode_passages" and failures:
            raise failures.pop()

    door = open_door(hook)
    failed, done = send(door, "a.txt"), send(door, "b.txt")
    job = door.job(failed)
    assert job["state"] == "failed"
    assert job["error"].startswith(reason)
    assert "secret" not in str(job)
    assert job["finished_at"]
    assert door.job(done)["state"] == "done"
    until(lambda: door.folders() == [])


def test_files_that_are_gone_are_said_to_be(open_door: Any) -> None:
    gate = threading.Event()
    door = open_door(lambda name: name == "encode_passages" and gate.wait(20))
    first, emptied, gone, torn = (
        send(door, "a.txt"),
        send(door, "b.txt", "c.txt"),
        send(door, "d.txt"),
        send(door, "e.txt"),
    )
    folder = {a: door.spool / a.json()["id"] for a in (emptied, gone, torn)}
    (folder[emptied] / "0.txt").unlink()
    shutil.rmtree(folder[gone])
    (folder[torn] / MANIFEST).write_text("{")
    gate.set()
    assert door.job(first)["state"] == "done"
    statuses = {r["source"]: (r["status"], r["reason"]) for r in door.job(emptied)["receipts"]}
    assert statuses["b.txt"] == ("failed", "cannot be read (No such file or directory)")
    assert statuses["c.txt"][0] == "created"
    for answer in (gone, torn):
        job = door.job(answer)
        assert (job["state"], job["error"][:24]) == ("failed", "the job's files are gone")


def test_a_stop_in_mid_job_is_taken_up_where_it_was(tmp_path: Path, build_door: Any) -> None:
    """The second of two batches is being encoded when the service is stopped."""
    reached, stopping = threading.Event(), threading.Event()
    batches: list[int] = []

    def hook(name: str) -> None:
        if name == "encode_passages":
            batches.append(1)
            # Batches of 256 passages are encoded in two slices: the fourth slice is never begun.
            if len(batches) == 3:
                reached.set()
                stopping.wait(20)

    text = "\n\n".join(f"Paragraph {n}." for n in range(256))
    names = ["a.txt", "b.txt", "c.txt"]
    with ExitStack() as stack:
        door = build_door(stack, tmp_path / "data", hook)
        answer = send(door, *names, text=text)
        assert reached.wait(20)
        worker = door.runner.app.state.ingest.worker
        threading.Thread(target=lambda: (worker._stop.wait(20), stopping.set())).start()
    assert len(batches) == 3
    assert len(list((tmp_path / "data" / FOLDER / answer.json()["id"]).iterdir())) == 4
    with ExitStack() as stack:
        door = build_door(stack, tmp_path / "data", hook)
        job = door.job(answer)
        assert [r["source"] for r in job["receipts"]] == names
        assert {r["status"] for r in job["receipts"]} == {"created"}
        # What had its receipt was not encoded again: two sources of two slices each.
        assert len(batches) == 3 + 4


def test_a_job_that_kills_the_service_each_time_is_given_up(
    tmp_path: Path, build_door: Any
) -> None:
    (tmp_path / "data" / FOLDER).mkdir(parents=True)
    jobs = JobStore(tmp_path / "data" / FOLDER, max_jobs=9, max_bytes=10**9)
    gate = threading.Event()
    with ExitStack() as stack:
        door = build_door(
            stack, tmp_path / "data", lambda name: name == "encode_passages" and gate.wait(20)
        )
        first, bad, good = (send(door, name) for name in ("a.txt", "b.txt", "c.txt"))
        # As if a worker had begun it so often, and had died each time.
        jobs._db.execute(
            "UPDATE jobs SET attempts = ? WHERE id = ?", (MAX_ATTEMPTS, bad.json()["id"])
        )
        gate.set()
        assert door.job(first)["state"] == "done"
        job = door.job(bad)
        assert (job["state"], job["receipts"]) == ("failed", [])
        assert f"{MAX_ATTEMPTS} times" in job["error"]
        assert door.job(good)["state"] == "done"
    jobs.close()


def test_one_worker_works_at_a_time_and_another_takes_over(open_door: Any, tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "data" / FOLDER / LOCK_FILE)
    (tmp_path / "data" / FOLDER).mkdir(parents=True)
    with lock:
        door = open_door()
        answer = send(door, "a.txt")
        assert readiness(door)["ingest worker"]["detail"] == "another process works"
        assert door.request("GET", answer.headers["location"]).json()["state"] == "queued"
    assert door.job(answer)["state"] == "done"


def test_what_is_encoded_at_a_time_is_bounded() -> None:
    short, long = ["x"] * 300, ["y" * 30_000, "z", "y" * 100_000, "y" * 6_000]
    parts = list(slices([*short, *long]))
    assert [text for part in parts for text in part] == [*short, *long]
    assert [len(part) for part in parts] == [128, 128, 46, 1, 1]
    assert list(slices([])) == []


class Flaky(JobStore):
    """Fails in ways that nobody foresaw, twice."""

    failures = 2

    def claim(self, *, begun: str | None = None) -> Job | None:
        if self.failures:
            self.failures -= 1
            raise RuntimeError("a fault")
        return super().claim(begun=begun)


def test_a_worker_survives_what_nobody_foresaw(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    jobs = Flaky(tmp_path, max_jobs=9, max_bytes=10**9)
    draft = spool.draft()
    source = SpooledSource(SourceKey("a", "paragraph"), "a.txt", "", 0)
    manifest = Manifest("paragraph", "papers-v1", ("soil",), (source,))
    draft.seal(manifest)
    jobs.accept(draft.job_id, manifest)

    def fail(encoder: Encoder, preprocessor_id: str) -> IngestPipeline:
        raise RuntimeError("another fault")

    worker = Worker(
        jobs=jobs,
        spool=spool,
        encoder=FakeEncoder(),
        make_pipeline=fail,
        keep_s=10.0,
        pause_s=(0.01, 0.02),
    )
    worker.start()
    until(lambda: jobs.waiting() == 0)
    assert jobs.page(after=None, limit=1)[0].state == "failed"
    assert jobs.failures == 0
    until(lambda: worker._trouble is None)
    assert worker.probe() == "working"
    assert worker.stop(20)
    with pytest.raises(RuntimeError, match="ended"):
        worker.probe()
    jobs.close()
