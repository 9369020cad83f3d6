"""`askem serve` and `askem keys` as processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from .test_retriever_cli import greeting_of, start


def command(data: Path, *arguments: str) -> str:
    code = "from askem_retriever.keys_cli import keys; keys()"
    full = [sys.executable, "-c", code, *arguments, "--data-dir", str(data)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        full, check=True, capture_output=True, text=True, timeout=30, env=environment
    ).stdout


def test_the_server_sees_what_the_command_does(tmp_path: Path) -> None:
    """The server has no key but the keyring's."""
    data = tmp_path / "data"
    first = command(data, "create", "--name", "first", "--scopes", "read").strip()
    process = start(tmp_path, "--port", "0", "--show-key")
    try:
        greeting, where = greeting_of(process, 2)
        url = greeting.split()[3]
        assert "askem keys list" in where
        second = command(data, "create", "--name", "second", "--scopes", "read").strip()

        def status(key: str) -> int:
            return httpx.get(f"{url}/topics", headers={"Api-Key": key}, trust_env=False).status_code

        def becomes(key: str, wanted: int) -> bool:
            end = time.monotonic() + 5
            while (seen := status(key)) != wanted and time.monotonic() < end:
                time.sleep(0.1)
            return seen == wanted

        assert status(first) == 200
        assert becomes(second, 200)
        command(data, "revoke", first[6:18])
        assert becomes(first, 401)
        assert status(second) == 200
    finally:
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=15)
    assert output == "Stopped.\n"
    assert not (data / "api_key").exists()
    assert f'"key": "{second[6:18]}"' in errors
    assert not [key for key in (first, second) if key[19:] in errors + greeting + where]


@pytest.mark.parametrize("how", ["garbage", "all revoked"])
def test_no_start_without_a_usable_keyring(tmp_path: Path, how: str) -> None:
    data = tmp_path / "data"
    key = command(data, "create", "--name", "x", "--scopes", "read").strip()
    if how == "garbage":
        (data / "keys.sqlite3").write_bytes(b"x" * 5000)
    else:
        command(data, "revoke", key[6:18])
    process = start(tmp_path, "--port", "0")
    output, errors = process.communicate(timeout=15)
    assert process.returncode == 1
    assert output == ""
    assert "Traceback" not in errors
    assert ("keys.sqlite3" if how == "garbage" else "askem keys create") in errors
    assert not (data / "api_key").exists()
