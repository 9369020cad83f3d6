"""`askem keys`, and what a retriever that runs makes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import httpx
import pytest
from click.testing import CliRunner, Result
from pydantic import SecretStr

from askem.http.keyformat import KEY_PATTERN, new_key
from askem.http.keyring import Keyring
from askem.http.keywatch import REREAD_S, KeyringWatch
from askem.testing.inprocess import AppRunner
from askem_retriever.app import create_app
from askem_retriever.cli import search
from askem_retriever.keys_cli import keys
from askem_retriever.settings import RetrieverSettings

from .conftest import KEY, components


def run(data: Path, *arguments: str) -> Result:
    return CliRunner().invoke(keys, [*arguments, "--data-dir", str(data)])


def create(data: Path, *options: str, name: str = "pipeline", scopes: str = "read") -> str:
    """The new key."""
    result = run(data, "create", "--name", name, "--scopes", scopes, *options)
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


def listed(data: Path) -> list[dict[str, object]]:
    result = run(data, "list", "--json")
    assert result.exit_code == 0
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_command_is_declared() -> None:
    project = (Path(__file__).parents[3] / "services/retriever/pyproject.toml").read_text()
    declared = re.search(r'^keys = "(.+)"$', project, re.MULTILINE)
    assert declared
    command = EntryPoint("keys", declared[1], "askem.commands").load()
    assert isinstance(command, click.Group)
    assert set(command.commands) == {"create", "list", "revoke"}


def test_create_prints_the_key_alone_once(tmp_path: Path) -> None:
    result = run(tmp_path, "create", "--name", "a b", "--scopes", "write,read", "--expires", "90d")
    assert result.exit_code == 0
    key = result.stdout.removesuffix("\n")
    assert re.fullmatch(KEY_PATTERN, key)
    assert "(a b) is good for read, write until 20" in result.stderr
    assert key not in result.stderr
    (described,) = listed(tmp_path)
    assert described["id"] == key[6:18]
    assert described["name"] == "a b"
    assert described["scopes"] == ["read", "write"]
    assert described["state"] == "live"
    assert described["revoked_at"] is None
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", str(described["expires_at"]))
    for output in (run(tmp_path, "list").output, run(tmp_path, "list", "--json").output):
        assert key[19:] not in output
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert key[19:].encode() not in stored


def test_list_and_revoke(tmp_path: Path) -> None:
    assert "askem keys create" in run(tmp_path, "list").output
    assert listed(tmp_path) == []
    assert not list(tmp_path.iterdir())
    ids = [create(tmp_path, name=name)[6:18] for name in ("one", "two")]
    revoked = run(tmp_path, "revoke", ids[0])
    assert revoked.exit_code == 0
    assert revoked.output.startswith(f"revoked    {ids[0]} (one) at 20")
    assert run(tmp_path, "revoke", ids[0]).output == revoked.output
    first, second = run(tmp_path, "list").output.splitlines()
    assert first.split()[:3] == ["revoked", ids[0], "read"]
    assert second.split()[:4] == ["live", ids[1], "read", "two"]
    assert [described["state"] for described in listed(tmp_path)] == ["revoked", "live"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("create", "--name", "x", "--scopes", "read,admin"), "'admin' is no scope"),
        (("create", "--name", "x\n", "--scopes", "read"), "name: "),
        (("create", "--name", "x", "--scopes", "read", "--expires", "2020-01-31"), "in the past"),
        (("create", "--name", "x", "--scopes", "read", "--expires", "soon"), "90d"),
        (("revoke", "a" * 12), "no key has this id"),
    ],
)
def test_what_cannot_be_done_is_said_and_makes_nothing(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = run(tmp_path, *arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_whole_key_given_to_revoke_is_not_repeated(tmp_path: Path) -> None:
    key = create(tmp_path)
    result = run(tmp_path, "revoke", key)
    assert result.exit_code == 1
    assert key not in result.output


def test_a_damaged_keyring_is_an_error_of_every_command(tmp_path: Path) -> None:
    (tmp_path / "keys.sqlite3").write_bytes(b"x" * 5000)
    for arguments in (
        ("create", "--name", "x", "--scopes", "read"),
        ("list",),
        ("revoke", "a" * 12),
    ):
        result = run(tmp_path, *arguments)
        assert result.exit_code == 1
        assert str(tmp_path / "keys.sqlite3") in result.stderr
        assert "Traceback" not in result.stderr


class Clock:
    monotonic = 50.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def door(tmp_path: Path, clock: Clock) -> Iterator[AppRunner]:
    """A retriever over the keyring of `tmp_path`, and a simple key besides."""
    watch = KeyringWatch(Keyring(tmp_path), monotonic=lambda: clock.monotonic)
    settings = RetrieverSettings(api_key=SecretStr(KEY), workers=2)
    with AppRunner(create_app(settings, components(), watch)) as runner:
        yield runner


def ask(door: AppRunner, key: str | None, path: str = "/hybrid") -> httpx.Response:
    headers = {} if key is None else {"Api-Key": key}
    if path in ("/hybrid", "/vector", "/search"):
        return door.request("POST", path, headers=headers, json={"question": "What is SIDARTHE?"})
    return door.request("GET", path, headers=headers)


PATHS = ["/hybrid", "/vector", "/search", "/topics", "/papers", "/passages/x%23p0"]


def test_a_running_retriever_sees_keys_made_and_revoked(
    tmp_path: Path, door: AppRunner, clock: Clock
) -> None:
    old = create(tmp_path)
    assert ask(door, old).status_code == 401
    clock.monotonic += REREAD_S
    assert ask(door, old).status_code == 200
    new = create(tmp_path)
    clock.monotonic += REREAD_S
    assert [ask(door, key).status_code for key in (old, new, KEY)] == [200, 200, 200]
    run(tmp_path, "revoke", old[6:18])
    clock.monotonic += REREAD_S
    assert [ask(door, key).status_code for key in (old, new, KEY)] == [401, 200, 200]


@pytest.mark.parametrize("path", PATHS)
def test_scopes_and_refusals_on_every_path(
    tmp_path: Path, door: AppRunner, clock: Clock, path: str
) -> None:
    reader, writer = create(tmp_path), create(tmp_path, scopes="ask,write")
    gone = create(tmp_path)
    run(tmp_path, "revoke", gone[6:18])
    clock.monotonic += REREAD_S
    assert ask(door, reader, path).status_code in (200, 404)
    forbidden = ask(door, writer, path)
    assert forbidden.status_code == 403
    assert forbidden.headers["content-type"] == "application/problem+json"
    assert forbidden.json()["detail"] == "The key lacks the scope 'read'."
    bodies = []
    for key in (None, gone, new_key()[1], reader[:-1] + "!", writer[:40] + reader[40:]):
        response = ask(door, key, path)
        assert response.status_code == 401
        body = response.json()
        assert body.pop("request_id") == response.headers["x-request-id"]
        bodies.append(body)
    assert all(body == bodies[0] for body in bodies)


def test_search_tells_a_typo_before_it_asks() -> None:
    key = new_key()[1]
    mistyped = key[:-1] + ("0" if key[-1] != "0" else "1")
    result = CliRunner().invoke(search, ["q", "--api-key", mistyped, "--url", "http://127.0.0.1:9"])
    assert result.exit_code == 1
    assert "mistyped" in result.output
    assert mistyped not in result.output
