"""A server for one run: a copy of an evaluation's index, on a port of its own."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from askem.errors import AskemError
from askem.evaluation.indexing import COMPLETE
from askem.http.client import AskemClient, ClientError

_START_S = 60.0
_STOP_S = 15.0
_ANNOUNCED = re.compile(r"answers at (\S+)")


class NotServed(AskemError):
    """The server did not come up; its own words are in the message."""


@contextmanager
def served(index: Path, encoder: str) -> Iterator[tuple[str, str]]:
    """Address and key of an `askem serve` over a copy of the index, which ends with the context.

    Askem's settings in the environment do not apply: what is measured are the defaults. Only from
    the main thread, whose SIGTERM it turns into SystemExit, so that the server ends then too.
    Raises NotServed.
    """
    with _sigterm_exits(), tempfile.TemporaryDirectory(prefix="askem-eval-") as name:
        home = Path(name)
        # A copy: a server writes keys and locks into its folder.
        shutil.copytree(index, home / "data", ignore=shutil.ignore_patterns(COMPLETE))
        key = secrets.token_hex(16)
        command = [sys.executable, "-m", "askem", "serve", "--quiet", "--port", "0"]
        command += ["--data-dir", str(home / "data"), "--services", "retriever,agent"]
        process = subprocess.Popen(  # noqa: S603 - our own command
            command,
            cwd=home,
            env=_environment(key, encoder),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        output = _Output(process)
        try:
            url = output.address()
            _wait_ready(url, key, output)
            yield url, key
        finally:
            process.terminate()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            output.close()


@contextmanager
def _sigterm_exits() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _environment(key: str, encoder: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASKEM_")}
    return {**kept, "ASKEM_API_KEY": key, "ASKEM_ENCODER": encoder}


class _Output:
    """What the server says, read all the time so that it never waits for a reader."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: list[str] = []
        self._url: str | None = None
        self._announced = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def address(self) -> str:
        self._announced.wait(_START_S)
        if self._url is None:
            raise self.failure()
        return self._url

    def failure(self) -> NotServed:
        said = "".join(self._lines[-5:]).strip()
        return NotServed(f"`askem serve` did not come up for this run: {said or 'it said nothing'}")

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def close(self) -> None:
        self._reader.join()
        if self._process.stdout:
            self._process.stdout.close()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._lines.append(line)
            if found := _ANNOUNCED.search(line):
                self._url = found[1]
                self._announced.set()
        self._announced.set()


def _wait_ready(url: str, key: str, output: _Output) -> None:
    end = time.monotonic() + _START_S
    with AskemClient(url, key) as client:
        while not _is_ready(client):
            if output.ended or time.monotonic() > end:
                raise output.failure()
            time.sleep(0.1)


def _is_ready(client: AskemClient) -> bool:
    try:
        return client.ready().ready
    except ClientError:
        return False
