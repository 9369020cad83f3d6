"""500 callers who send a byte every 5 s, at nginx before a running `askem serve`: each must be cut
off within 15 s while others are served. Prints what was seen; exit status 1 where it does not hold.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
from door import free_port, open_door

SLOW, EVERY_S, CUT_OFF_S, WATCHED_S = 500, 5.0, 15.0, 22.0
HEAD = b"POST /hybrid HTTP/1.1\r\nHost: askem\r\nApi-Key: %s\r\nContent-Type: application/json\r\n"


async def slow_sender(port: int, start: bytes) -> float:
    """Sends `start` at once, then a byte every 5 s. Seconds until the other side closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.monotonic()
    writer.write(start)

    async def drip() -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            writer.write(b"a")
            await writer.drain()

    dripping = asyncio.create_task(drip())
    try:
        async with asyncio.timeout(WATCHED_S * 2):
            while await reader.read(4096):
                pass
    except (ConnectionError, TimeoutError):
        pass
    finally:
        dripping.cancel()
        writer.close()
    return time.monotonic() - began


async def ordinary(client: httpx.AsyncClient, seconds: float) -> list[float]:
    """Asks one question after the other. Milliseconds each. Raises where one is not answered."""
    times = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.perf_counter()
        answer = await client.post("/hybrid", json={"question": f"What is {len(times)}?"})
        answer.raise_for_status()
        times.append((time.perf_counter() - began) * 1e3)
        await asyncio.sleep(0.02)
    return times


def describe(name: str, times: list[float]) -> float:
    p99 = statistics.quantiles(times, n=100)[98]
    print(
        f"{name}: {len(times)} questions, p50 {statistics.median(times):.1f} ms, p99 {p99:.1f} ms"
    )
    return p99


async def measure(url: str, key: str) -> bool:
    port = int(url.rsplit(":", 1)[1])
    head = HEAD % key.encode()
    starts = [head, head + b"Content-Length: 5000\r\n\r\n{"]
    headers = {"Api-Key": key}
    async with httpx.AsyncClient(
        base_url=url, headers=headers, timeout=20, trust_env=False
    ) as http:
        describe("alone", await ordinary(http, 5))
        slow = [asyncio.create_task(slow_sender(port, starts[i % 2])) for i in range(SLOW)]
        describe("beside slow senders", await ordinary(http, WATCHED_S))
        closed = await asyncio.gather(*slow)
    in_headers, in_body = max(closed[::2]), max(closed[1::2])
    print(f"{SLOW} slow senders cut off: after {in_headers:.1f} s at most in the headers, ")
    print(f"  after {in_body:.1f} s at most in the body")
    return max(in_headers, in_body) <= CUT_OFF_S


def main() -> None:
    key = secrets.token_urlsafe(24)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        port = free_port()
        askem = Path(sys.executable).with_name("askem")
        server = subprocess.Popen(  # noqa: S603 - our own command
            [str(askem), "serve", "--quiet", "--port", str(port), "--data-dir", str(folder / "d")],
            env={**os.environ, "ASKEM_API_KEY": key},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert server.stdout  # noqa: S101 - for the type checker
            if not re.match("Askem answers", server.stdout.readline()):
                sys.exit("`askem serve` did not start")
            here = f"http://127.0.0.1:{port}"
            with open_door(folder, {"retriever": here, "ingest": here, "agent": ""}) as url:
                held = asyncio.run(measure(url, key))
        finally:
            server.terminate()
            server.wait(timeout=20)
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
