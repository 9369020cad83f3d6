"""The queue: what it takes, what it remembers, and for how long; keys that make requests safe to
repeat."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from askem.errors import InvalidInput, Overloaded
from askem.ingestion.receipts import Receipt
from askem.models import SourceKey
from askem_ingest.job_rows import Job
from askem_ingest.jobs import KEY_LIFE_S, JobStore
from askem_ingest.spool import Manifest, Spool, SpooledSource

PAPER: dict[str, Any] = {"paper_id": "a", "text": "An infection model.", "topics": ["covid"]}
DAY_S = 24 * 3600.0


def manifest(paper_id: str = "a", size: int = 10) -> Manifest:
    source = SpooledSource(SourceKey(paper_id, "paragraph"), f"{paper_id}.txt", "00", size)
    return Manifest("paragraph", "papers-v1", ("soil",), (source,))


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def jobs(tmp_path: Path, clock: Clock) -> Any:
    store = JobStore(tmp_path, max_jobs=3, max_bytes=100, now=clock)
    yield store
    store.close()


def claimed(jobs: JobStore) -> Job:
    job = jobs.claim()
    assert job is not None
    return job


def test_jobs_are_claimed_in_order_and_outlive_the_process(tmp_path: Path, jobs: JobStore) -> None:
    jobs.accept("b" * 32, manifest())
    jobs.accept("a" * 32, manifest())
    assert claimed(jobs).id == "b" * 32
    other = JobStore(tmp_path, max_jobs=3, max_bytes=100)
    # As after a kill: the job is still the first one, and is begun a second time.
    again = claimed(other)
    assert (again.id, again.state, again.attempts) == ("b" * 32, "running", 2)
    other.finish(again.id)
    assert claimed(other).id == "a" * 32
    other.close()


def test_attempts_count_only_without_progress(jobs: JobStore) -> None:
    jobs.accept("a", manifest())
    for attempt in (1, 2, 3):
        assert claimed(jobs).attempts == attempt
    assert jobs.claim(begun="a").attempts == 3  # type: ignore[union-attr]
    jobs.add_receipt("a", 0, Receipt("a", "paragraph", "created"))
    assert claimed(jobs).attempts == 2
    jobs.release("a")
    assert claimed(jobs).attempts == 1


def test_a_source_has_one_receipt(jobs: JobStore) -> None:
    jobs.accept("a", manifest())
    jobs.add_receipt("a", 0, Receipt("a", "paragraph", "created"))
    with pytest.raises(Exception, match="UNIQUE"):
        jobs.add_receipt("a", 0, Receipt("a", "paragraph", "unchanged"))
    assert jobs.sources_done("a") == {0}
    assert [r["status"] for r in jobs.receipts("a", limit=9, offset=0)] == ["created"]


def test_room_for_jobs_and_bytes(jobs: JobStore) -> None:
    jobs.accept("a", manifest(size=60))
    with pytest.raises(Overloaded):
        jobs.accept("b", manifest(size=41))
    jobs.accept("b", manifest(size=40))
    with pytest.raises(Overloaded):
        jobs.accept("c", manifest(size=1))
    claimed(jobs)
    jobs.finish("a")
    jobs.accept("c", manifest(size=1))
    jobs.accept("d", manifest(size=1))
    with pytest.raises(Overloaded):
        jobs.check_room()
    assert jobs.waiting() == 3


def test_one_job_that_is_larger_than_the_queue_is_taken_alone(jobs: JobStore) -> None:
    jobs.accept("a", manifest(size=1000))
    with pytest.raises(Overloaded):
        jobs.accept("b", manifest(size=1))


def test_a_key_holds_for_a_day(jobs: JobStore, clock: Clock) -> None:
    first, replayed = jobs.accept("a", manifest(), key="k")
    assert not replayed
    assert jobs.accept("b", manifest(), key="k") == (first, True)
    with pytest.raises(InvalidInput, match="another body"):
        jobs.accept("b", manifest("other"), key="k")
    assert jobs.get("b") is None
    clock.now += KEY_LIFE_S
    assert jobs.accept("b", manifest("other"), key="k")[0].id == "b"
    assert jobs.accept("c", manifest("other"), key="k")[0].id == "b"


def test_a_known_key_needs_no_room(jobs: JobStore) -> None:
    jobs.accept("a", manifest(size=100), key="k")
    jobs.check_room(1, key="k")
    assert jobs.accept("b", manifest(size=100), key="k")[1]
    with pytest.raises(Overloaded):
        jobs.check_room(1, key="other")


def test_finished_jobs_are_forgotten_in_time(jobs: JobStore, clock: Clock) -> None:
    for name in "abc":
        jobs.accept(name, manifest(name), key=name)
    jobs.add_receipt("a", 0, Receipt("a", "paragraph", "created"))
    jobs.finish("a")
    clock.now += 3 * DAY_S
    jobs.finish("b", "a reason")
    assert jobs.purge(7 * DAY_S) == ({"c"}, {"a", "b"})
    clock.now += 4 * DAY_S
    assert jobs.purge(7 * DAY_S) == ({"c"}, {"b"})
    assert jobs.get("a") is None
    assert jobs.receipts("a", limit=9, offset=0) == []
    # The one that waits is never forgotten.
    clock.now += 400 * DAY_S
    assert jobs.purge(7 * DAY_S) == ({"c"}, set())


def test_the_sweep_removes_what_nobody_needs(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "jobs")
    live, finished, young, old = (spool.draft() for _ in range(4))
    os.utime(old.path, (0, 0))
    os.utime(live.path, (0, 0))
    assert spool.sweep({live.job_id}, {finished.job_id}) == 2
    assert {path.name for path in spool.root.iterdir()} == {live.job_id, young.job_id}


# Over HTTP


def post(door: Any, key: str, text: str = "An infection model.") -> Any:
    return door.request(
        "POST", "/papers", json={**PAPER, "text": text}, headers={"Idempotency-Key": key}
    )


def test_the_same_key_gives_the_same_job(door: Any) -> None:
    first, second = post(door, "k!~1"), post(door, "k!~1")
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.headers["location"] == second.headers["location"]
    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"
    door.job(first)
    assert post(door, "k!~1").json()["state"] == "done"
    assert len(door.request("GET", "/jobs").json()["jobs"]) == 1
    assert len(door.folders()) <= 1


def test_the_same_key_with_another_body_is_refused(door: Any) -> None:
    post(door, "k")
    answer = post(door, "k", "Another text.")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "Idempotency-Key"
    assert post(door, "k2", "Another text.").status_code == 202


def test_the_boundary_of_a_form_is_no_part_of_its_body(door: Any) -> None:
    def send(text: bytes, boundary: str, topic: str = "t") -> Any:
        headers = {
            "Idempotency-Key": "k",
            "Content-Type": f"multipart/form-data; boundary={boundary}",
        }
        files = [("files", ("a.txt", text))]
        return door.request("POST", "/jobs", files=files, data={"topic": topic}, headers=headers)

    first = send(b"Text.", "one")
    assert send(b"Text.", "two").headers["location"] == first.headers["location"]
    assert send(b"Other.", "one").status_code == 422
    assert send(b"Text.", "one", topic="u").status_code == 422


def test_many_at_once_with_one_key_are_one_job(door: Any) -> None:
    async def crowd() -> list[Any]:
        headers = {"Idempotency-Key": "k"}
        send = [door.runner.client.post("/papers", json=PAPER, headers=headers) for _ in range(4)]
        return await asyncio.gather(*send)

    answers = door.runner.run(crowd())
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.headers["location"] for answer in answers}) == 1
    assert sum("idempotent-replayed" in answer.headers for answer in answers) == 3


def test_a_full_queue_is_503_and_says_when(open_door: Any) -> None:
    gate = threading.Event()
    door = open_door(lambda name: name == "encode_passages" and gate.wait(20), ingest_queue_jobs=2)
    taken = [post(door, f"k{n}", f"Text {n}.") for n in range(2)]
    for answer in (
        post(door, "k2"),
        door.request("POST", "/jobs", files={"files": ("a.txt", b"x")}),
    ):
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.headers["content-type"] == "application/problem+json"
    assert post(door, "k1", "Text 1.").headers["idempotent-replayed"] == "true"
    gate.set()
    assert [door.job(answer)["state"] for answer in taken] == ["done", "done"]
    assert post(door, "k2").status_code == 202


def test_uploads_have_places(open_door: Any) -> None:
    door = open_door(ingest_uploads=1)
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow() -> Any:
        yield b"{"
        begun.set()
        await go_on.wait()
        yield b"}"

    async def crowd() -> tuple[int, Any, int]:
        client = door.runner.client
        headers = {"Content-Type": "application/json"}
        first = asyncio.create_task(client.post("/papers", content=slow(), headers=headers))
        await begun.wait()
        refused = await client.post("/papers", json=PAPER)
        looked = await client.get("/jobs")
        go_on.set()
        return (await first).status_code, refused, looked.status_code

    first, refused, looked = door.runner.run(crowd())
    assert (first, refused.status_code, looked) == (422, 503, 200)
    assert "retry-after" in refused.headers
    assert post(door, "k").status_code == 202


@pytest.mark.parametrize("full_at", [1, 2, 3, 4])
def test_a_full_disk_is_503_and_leaves_nothing(open_door: Any, full_at: int) -> None:
    """At each of the moments at which what is written has to be durable."""
    calls = 0

    def sync(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls == full_at:
            raise OSError(errno.ENOSPC, "No space left on device")

    door = open_door(sync=sync)
    answer = post(door, "k")
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) >= 1
    assert "space" not in answer.text
    assert door.folders() == []
    assert door.request("GET", "/jobs").json()["jobs"] == []
    # The key was not used up.
    again = post(door, "k")
    assert "idempotent-replayed" not in again.headers
    assert door.job(again)["state"] == "done"


def test_a_caller_who_goes_away_leaves_nothing(door: Any) -> None:
    async def leave() -> None:
        messages = [
            {"type": "http.request", "body": b"--b\r\nContent-Disposition: form-data; name=files; "
             b"filename=a.txt\r\n\r\n" + b"x" * 600_000, "more_body": True},
            {"type": "http.disconnect"},
        ]  # fmt: skip

        async def receive() -> Any:
            return messages.pop(0)

        async def send(message: Any) -> None:
            assert message.get("status") != 500

        headers = [
            (b"api-key", b"test-key-0123456789"),
            (b"content-type", b"multipart/form-data; boundary=b"),
        ]
        scope = {"type": "http", "method": "POST", "path": "/jobs", "headers": headers,
                 "query_string": b"", "raw_path": b"/jobs", "root_path": "", "scheme": "http",
                 "http_version": "1.1"}  # fmt: skip
        await door.runner.app(scope, receive, send)

    door.runner.run(leave())
    assert door.folders() == []
    assert door.request("GET", "/jobs").json()["jobs"] == []
