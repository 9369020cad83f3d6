"""The guard over a keyring: one answer for all refusals, and changes seen while it runs."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from askem.errors import ConfigurationError
from askem.http.keyformat import new_key
from askem.http.keyring import Keyring
from askem.http.keys import ApiKeyGuard
from askem.http.keywatch import MAX_AGE_S, REREAD_S, KeyringWatch
from askem.http.limits import RequestContext

SIMPLE = "simple-key-0123456789"
NOW = 1_800_000_000


@dataclass
class Clocks:
    wall: float = NOW
    monotonic: float = 50.0

    def pass_s(self, seconds: float) -> None:
        self.wall += seconds
        self.monotonic += seconds


async def inside(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


class Guarded:
    """A guard over the keyring of a folder, with clocks in the test's hand."""

    def __init__(self, folder: Path) -> None:
        self.clocks = Clocks()
        self.keyring = Keyring(folder, now=lambda: self.clocks.wall)
        self.app: ASGIApp = inside

    def open(self) -> None:
        watch = KeyringWatch(
            self.keyring,
            now=lambda: self.clocks.wall,
            monotonic=lambda: self.clocks.monotonic,
        )
        self.app = ApiKeyGuard(inside, keys=[SIMPLE], open_paths=[], keyring=watch)

    def get(self, key: str | bytes | None) -> httpx.Response:
        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.get("/x", headers={} if key is None else {"Api-Key": key})  # type: ignore[dict-item]

        return asyncio.run(call())

    def status(self, key: str) -> int:
        return self.get(key).status_code


@pytest.fixture
def guarded(tmp_path: Path) -> Guarded:
    return Guarded(tmp_path)


def test_every_refusal_is_one_and_the_same(guarded: Guarded) -> None:
    record, live = guarded.keyring.create("live", ("read",))
    gone, revoked = guarded.keyring.create("revoked", ("read",))
    guarded.keyring.revoke(gone.id)
    _, expired = guarded.keyring.create("expired", ("read",), NOW - 1)
    # Without the scope either: what it lacks is told to holders of live keys only.
    gone, revoked_ask = guarded.keyring.create("revoked", ("ask",))
    guarded.keyring.revoke(gone.id)
    guarded.open()
    assert guarded.status(live) == 200
    unknown = new_key()[1]
    answer = guarded.get(None)
    assert answer.status_code == 401
    refused: list[str | bytes] = [
        "",
        unknown,
        revoked,
        revoked_ask,
        expired,
        live[:-1],
        live + "x",
        live[:-1] + ("a" if live[-1] != "a" else "b"),
        live[:40] + unknown[40:],
        f"askem_{record.id}_{unknown[19:]}",
        f"askem_{record.id}_",
        live.upper(),
        b"\xff" * 68,
    ]
    for key in refused:
        response = guarded.get(key)
        assert (response.status_code, response.content) == (401, answer.content), key
        assert response.headers == answer.headers


def test_a_missing_scope_is_named_to_who_holds_a_live_key(guarded: Guarded) -> None:
    _, key = guarded.keyring.create("writer", ("ask", "write"))
    guarded.open()
    response = guarded.get(key)
    assert response.status_code == 403
    assert response.json()["detail"] == "The key lacks the scope 'read'."
    assert "writer" not in response.text
    assert guarded.get(key[:-1] + "!").content == guarded.get(None).content


def test_the_simple_key_goes_on_working(guarded: Guarded) -> None:
    guarded.open()
    assert guarded.status(SIMPLE) == 200
    guarded.keyring.create("x", ("read",))
    guarded.clocks.pass_s(REREAD_S)
    assert guarded.status(SIMPLE) == 200


def test_a_key_expires_without_any_reading(guarded: Guarded) -> None:
    _, key = guarded.keyring.create("x", ("read",), NOW + 60)
    guarded.open()
    guarded.clocks.wall = NOW + 59.9
    assert guarded.status(key) == 200
    guarded.clocks.wall = NOW + 60
    assert guarded.status(key) == 401


def test_a_running_guard_sees_creation_and_revocation(guarded: Guarded) -> None:
    guarded.open()
    old, old_key = guarded.keyring.create("pipeline", ("read",))
    assert guarded.status(old_key) == 401
    guarded.clocks.pass_s(REREAD_S)
    assert guarded.status(old_key) == 200
    _, new_key_ = guarded.keyring.create("pipeline", ("read",))
    guarded.clocks.pass_s(REREAD_S)
    assert (guarded.status(old_key), guarded.status(new_key_)) == (200, 200)
    guarded.keyring.revoke(old.id)
    guarded.clocks.pass_s(REREAD_S / 2)
    assert guarded.status(old_key) == 200
    guarded.clocks.pass_s(REREAD_S / 2)
    assert (guarded.status(old_key), guarded.status(new_key_)) == (401, 200)


def test_a_keyring_put_back_from_a_backup_is_seen(guarded: Guarded) -> None:
    _, key = guarded.keyring.create("x", ("read",))
    backup = guarded.keyring.path.read_bytes()
    _, later = guarded.keyring.create("y", ("read",))
    guarded.open()
    assert guarded.status(later) == 200
    restored = guarded.keyring.path.with_name("restored")
    restored.write_bytes(backup)
    restored.rename(guarded.keyring.path)
    guarded.clocks.pass_s(REREAD_S)
    assert (guarded.status(key), guarded.status(later)) == (200, 401)


@pytest.mark.parametrize("how", ["garbage", "folder", "gone"])
def test_a_keyring_that_cannot_be_read_any_more_opens_nothing(
    guarded: Guarded, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    _, key = guarded.keyring.create("x", ("read",))
    guarded.open()
    path = guarded.keyring.path
    whole = path.read_bytes()
    path.unlink()
    if how == "garbage":
        path.write_bytes(b"x" * 5000)
    elif how == "folder":
        path.mkdir()
    for _ in range(3):
        guarded.clocks.pass_s(REREAD_S)
        assert guarded.get(key).content == guarded.get(None).content
        assert guarded.status(SIMPLE) == 200
    # Once, not at every reading.
    assert len([record for record in caplog.records if "keyring" in record.message]) == 1
    assert key not in caplog.text
    if how == "folder":
        path.rmdir()
    path.write_bytes(whole)
    guarded.clocks.pass_s(REREAD_S)
    assert guarded.status(key) == 200


def test_a_writer_at_work_keeps_nobody_waiting_and_not_for_long(
    guarded: Guarded, caplog: pytest.LogCaptureFixture
) -> None:
    record, key = guarded.keyring.create("x", ("read",))
    guarded.open()
    with closing(sqlite3.connect(guarded.keyring.path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        guarded.clocks.pass_s(MAX_AGE_S)
        assert guarded.status(key) == 200
        guarded.clocks.pass_s(0.5)
        assert guarded.status(key) == 401
        assert "in use by another process" in caplog.text
        writer.execute("UPDATE keys SET name = 'y' WHERE id = ?", (record.id,))
        writer.execute("COMMIT")
    # The next look-up tries again at once.
    assert guarded.status(key) == 200


def test_no_start_with_a_keyring_that_cannot_be_read(guarded: Guarded) -> None:
    guarded.keyring.path.write_bytes(b"x" * 5000)
    with pytest.raises(ConfigurationError, match=r"keys\.sqlite3"):
        guarded.open()


def test_wide_permissions_are_a_warning(guarded: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    guarded.keyring.create("x", ("read",))
    guarded.open()
    assert "chmod" not in caplog.text
    guarded.keyring.path.chmod(0o660)
    guarded.open()
    assert f"chmod 600 {guarded.keyring.path}" in caplog.text


def test_logs_name_a_key_by_its_id(guarded: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    record, key = guarded.keyring.create("x", ("read",))
    gone, revoked = guarded.keyring.create("y", ("read",))
    guarded.keyring.revoke(gone.id)
    guarded.open()
    guarded.app = RequestContext(guarded.app)
    tries = [key, revoked, SIMPLE, f"askem_{record.id}_{new_key()[1][19:]}"]
    with caplog.at_level(logging.INFO, "askem.access"):
        for sent in tries:
            guarded.get(sent)
    lines = [record.message for record in caplog.records if record.name == "askem.access"]
    assert f'"status": 200, "key": "{record.id}"' in lines[0]
    assert f'"status": 401, "key": "{gone.id}"' in lines[1]
    assert '"status": 200, "key": "' in lines[2]
    # Somebody who knows an id only is not its holder.
    assert '"status": 401, "key": null' in lines[3]
    assert not [sent for sent in tries if sent in caplog.text or sent[-20:] in caplog.text]


def test_any_header_value_is_only_refused(guarded: Guarded) -> None:
    guarded.keyring.create("x", ("read",))
    guarded.open()
    for length in (1, 5, 6, 17, 18, 19, 67, 68, 69, 5000):
        for byte in (b"a", b"_", b"\x7f", b"\x80", b"\xff"):
            assert guarded.get(byte * length).status_code == 401
            assert guarded.get((b"askem_" + byte * length)[:length]).status_code == 401
