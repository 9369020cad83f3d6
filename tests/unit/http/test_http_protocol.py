"""A real server and callers who misbehave on the wire."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest
import uvicorn

from askem.errors import ConfigurationError
from askem.http.compose import build_app
from askem.http.protocol import PatientProtocol
from askem.http.server import configuration, listen

KEY = "right-key-0123456789"


def test_connections_are_refused_until_it_is_served() -> None:
    with closing(listen("127.0.0.1", 0)) as listener, pytest.raises(ConnectionRefusedError):
        socket.create_connection(listener.getsockname(), timeout=5)


def test_a_taken_port_is_named() -> None:
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as taken,
        pytest.raises(ConfigurationError, match="cannot listen on"),
    ):
        listen("127.0.0.1", taken.getsockname()[1])


class Impatient(PatientProtocol):
    headers_timeout_s = 0.3
    linger_s = 0.3


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(configuration(build_app([], api_keys=[KEY]), Impatient))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.005)
    yield listener.getsockname()
    server.should_exit = True
    thread.join(10)
    assert not thread.is_alive()


def exchange(address: tuple[str, int], *parts: bytes, pause_s: float = 0.0) -> bytes:
    """Sends `parts`, then reads until the server closes. TimeoutError if it does not within 5 s."""
    received = b""
    with socket.create_connection(address, timeout=5) as connection:
        try:
            for part in parts:
                connection.sendall(part)
                if pause_s:
                    # Reads meanwhile: what has arrived is lost when the connection is reset.
                    connection.settimeout(pause_s)
                    with contextlib.suppress(TimeoutError):
                        received += connection.recv(65536)
            connection.settimeout(5)
            while chunk := connection.recv(65536):
                received += chunk
        except (BrokenPipeError, ConnectionResetError):
            pass
    return received


def problem_of(received: bytes) -> dict[str, object]:
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    found: dict[str, object] = json.loads(body)
    return found


def test_silence_is_closed(address: tuple[str, int]) -> None:
    assert exchange(address) == b""


def test_dripping_headers_are_closed(address: tuple[str, int]) -> None:
    drip = [bytes([byte]) for byte in b"GET /healthz HTTP/1.1\r\nHost: a-long-name"]
    assert exchange(address, *drip, pause_s=0.05) == b""


def test_a_second_requests_headers_have_a_deadline_too(address: tuple[str, int]) -> None:
    first = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    received = exchange(address, first, *[b"G", b"E", b"T", b" "], pause_s=0.1)
    assert received.startswith(b"HTTP/1.1 200")


def test_a_body_that_drips_on_after_its_answer_is_closed(address: tuple[str, int]) -> None:
    head = b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
    received = exchange(address, head, *[b"x"] * 40, pause_s=0.05)
    assert received.startswith(b"HTTP/1.1 401")


def test_endless_headers_are_431(address: tuple[str, int]) -> None:
    lines = [b"GET / HTTP/1.1\r\n", *[b"X-%d: " % n + b"x" * 1000 + b"\r\n" for n in range(100)]]
    received = exchange(address, *lines)
    # The server may have closed while we still sent, and the answer been lost with it.
    assert not received or received.startswith(b"HTTP/1.1 431")


@pytest.mark.parametrize("method", [b"GET", b"POST"])
@pytest.mark.parametrize(("value", "status"), [(65_000, b"200"), (65_600, b"431")])
def test_headers_have_64_kib_at_most(
    address: tuple[str, int], method: bytes, value: int, status: bytes
) -> None:
    """Sent at once, with or without a body behind them."""
    head = b"%s /healthz HTTP/1.1\r\nHost: x\r\nX-Long: %s\r\n" % (method, b"x" * value)
    body = b"" if method == b"GET" else b"abc"
    head += b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body)
    received = exchange(address, head + body)
    if (status, method) == (b"200", b"POST"):
        status = b"405"
    assert received.startswith(b"HTTP/1.1 " + status)
    assert received.count(b"HTTP/1.1 ") == 1
    if status == b"431":
        assert problem_of(received)["detail"] == "The headers may have 65536 bytes at most."


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
    ],
    ids=lambda value: ascii(value)[:25],
)
def test_what_is_no_http_is_400(address: tuple[str, int], request_bytes: bytes) -> None:
    received = exchange(address, request_bytes)
    assert received.startswith(b"HTTP/1.1 400")
    assert problem_of(received)["status"] == 400


@pytest.mark.parametrize("size", [70_000, 5_000_000])
def test_a_caller_who_sends_too_much_can_read_why(address: tuple[str, int], size: int) -> None:
    url = f"http://{address[0]}:{address[1]}/hybrid"
    headers = {"Api-Key": KEY, "Content-Type": "application/json"}
    with httpx.Client(trust_env=False) as client:
        assert client.post(url, content=b"x" * size, headers=headers).status_code == 413
        assert client.post(url, content=b"x" * size).status_code == 401
        pieces = (b"x" * 1000 for _ in range(size // 1000))
        assert client.post(url, content=pieces, headers=headers).status_code == 413


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_load_balancers_may_ask_by_head(address: tuple[str, int], path: str) -> None:
    with httpx.Client(trust_env=False, base_url=f"http://{address[0]}:{address[1]}") as client:
        asked, whole = client.head(path), client.get(path)
        assert client.post(path).headers["allow"] == "GET, HEAD"
    assert (asked.status_code, asked.content) == (200, b"")
    assert asked.headers["content-length"] == whole.headers["content-length"]


def test_the_server_does_not_name_itself(address: tuple[str, int]) -> None:
    with httpx.Client(trust_env=False) as client:
        response = client.get(f"http://{address[0]}:{address[1]}/healthz")
    assert response.status_code == 200
    assert "server" not in response.headers
