"""Who gets past the guard, and what the others learn."""

from __future__ import annotations

import asyncio
import logging
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from askem.errors import ConfigurationError
from askem.http.keyfile import load_or_create_key, local_key
from askem.http.keyring import Keyring
from askem.http.keys import ApiKeyGuard, fingerprint, require_key
from askem.http.keywatch import KeyringWatch

KEY = "right-key-0123456789"
SECOND = "second-key-0123456789"


async def inner(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


GUARD = ApiKeyGuard(inner, keys=[KEY, SECOND], open_paths=["/healthz"])


def get(path: str, headers: list[tuple[bytes, bytes]] | None = None) -> httpx.Response:
    async def call() -> httpx.Response:
        transport = httpx.ASGITransport(GUARD)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.get(path, headers=headers)

    return asyncio.run(call())


@pytest.mark.parametrize("key", [KEY, SECOND])
def test_a_right_key_gets_in(key: str) -> None:
    assert get("/x", [(b"Api-Key", key.encode())]).text == "inside"


REFUSED: list[list[tuple[bytes, bytes]]] = [
    [],
    [(b"Api-Key", b"")],
    [(b"Api-Key", b"wrong")],
    [(b"Api-Key", KEY[:-1].encode())],
    [(b"Api-Key", KEY.encode() + b"x")],
    [(b"Api-Key", KEY.upper().encode())],
    [(b"Api-Key", b"\xff\xfe\x80")],
    [(b"Api-Key", b"x" * 10_000)],
    [(b"Api-Key", KEY.encode()), (b"Api-Key", KEY.encode())],
    [(b"Api-Key", b"wrong"), (b"Api-Key", KEY.encode())],
    [(b"Authorization", b"ApiKey " + KEY.encode())],
    [(b"X-Api-Key", KEY.encode())],
]


@pytest.mark.parametrize("headers", REFUSED, ids=lambda value: ascii(value)[:40])
@pytest.mark.parametrize("path", ["/x", "/healthz/", "//healthz", "/%2fhealthz", "/healthz/../x"])
def test_everybody_else_gets_one_and_the_same_answer(
    headers: list[tuple[bytes, bytes]], path: str
) -> None:
    response = get(path, headers)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == 'ApiKey realm="askem"'
    assert response.headers["content-type"] == "application/problem+json"
    # Without the outer middleware every request id is "-": the bodies are equal to the byte.
    assert response.content == get("/").content
    assert KEY not in response.text


def test_the_key_is_no_query_parameter() -> None:
    assert get(f"/x?Api-Key={KEY}").status_code == 401


def test_open_paths_need_no_key() -> None:
    assert get("/healthz").text == "inside"


def test_websockets_need_a_key_too() -> None:
    sent: list[Any] = []

    async def call(headers: list[tuple[bytes, bytes]]) -> None:
        async def receive() -> Any:
            return {"type": "websocket.connect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await GUARD({"type": "websocket", "path": "/healthz", "headers": headers}, receive, send)

    asyncio.run(call([(b"api-key", b"wrong")]))
    assert [message["type"] for message in sent] == ["websocket.close"]


def test_no_key_no_start() -> None:
    with pytest.raises(ConfigurationError, match="no API key"):
        ApiKeyGuard(inner, keys=[], open_paths=[])


@pytest.mark.parametrize(
    "value", [None, "", "x" * 15, "with space 0123456789", "with\ttab-0123456789", "schlüssel" * 3]
)
def test_a_key_that_cannot_serve_is_refused_and_not_shown(value: str | None) -> None:
    with pytest.raises(ConfigurationError) as caught:
        require_key(value)
    assert not value or value not in str(caught.value)


def test_fingerprints_tell_keys_apart_and_hide_them() -> None:
    assert len(fingerprint(KEY)) == 8
    assert fingerprint(KEY) != fingerprint(SECOND)


def test_a_key_is_made_once(tmp_path: Path) -> None:
    data = tmp_path / "deep" / "data"
    made = local_key(data)
    assert made.created
    assert made.value.startswith("askem_")
    assert len(made.value) == len("askem_") + 43
    assert made.value not in repr(made)
    assert stat.S_IMODE((data / "api_key").stat().st_mode) == 0o600
    assert load_or_create_key(data) == made.value
    assert not local_key(data).created
    assert list(data.iterdir()) == [data / "api_key"]


def test_the_environment_wins_and_leaves_no_file(tmp_path: Path) -> None:
    assert load_or_create_key(tmp_path, override=KEY) == KEY
    assert not list(tmp_path.iterdir())
    with pytest.raises(ConfigurationError, match="at least 16"):
        load_or_create_key(tmp_path, override="short")


def test_wide_permissions_are_a_warning_that_says_how_to_mend_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    load_or_create_key(tmp_path)
    (tmp_path / "api_key").chmod(0o644)
    with caplog.at_level(logging.WARNING):
        load_or_create_key(tmp_path)
    assert f"chmod 600 {tmp_path / 'api_key'}" in caplog.text


@pytest.mark.parametrize("content", [b"", b"short\n", b"\xff\xfe" * 20])
def test_a_broken_key_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "api_key").write_bytes(content)
    (tmp_path / "api_key").chmod(0o600)
    with pytest.raises(ConfigurationError, match="api_key"):
        load_or_create_key(tmp_path)


def test_two_processes_agree_on_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(lambda _: load_or_create_key(tmp_path), range(32)))
    assert len(set(keys)) == 1


def test_a_keyring_stands_in_for_the_key_file(tmp_path: Path) -> None:
    keyring = Keyring(tmp_path)
    record, _ = keyring.create("x", ("read",))
    key = local_key(tmp_path, keyring=KeyringWatch(keyring))
    assert (key.path, key.created, key.internal) == (None, False, True)
    assert key.value != local_key(tmp_path, keyring=KeyringWatch(keyring)).value
    assert not (tmp_path / "api_key").exists()
    assert local_key(tmp_path, KEY, KeyringWatch(keyring)).value == KEY
    keyring.revoke(record.id)
    with pytest.raises(ConfigurationError, match="askem keys create"):
        local_key(tmp_path, keyring=KeyringWatch(keyring))
    assert not (tmp_path / "api_key").exists()


def test_without_a_keyring_the_key_file_is_made_and_stays(tmp_path: Path) -> None:
    keyring = Keyring(tmp_path)
    made = local_key(tmp_path, keyring=KeyringWatch(keyring))
    assert made.created
    keyring.create("x", ("read",))
    again = local_key(tmp_path, keyring=KeyringWatch(keyring))
    assert (again.value, again.internal) == (made.value, False)
