"""A server of `/v1/embeddings` on loopback that does what its script says, good or bad.

    with EmbeddingsServer(script=[status(503), vectors()]) as server:
        ...  # server.url, server.requests

Each request takes the next step of the script; after its end the server behaves.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askem.testing.loopback import LoopbackServer

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Request:
    """What the server was asked."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    arrived_s: float
    """Monotonic time."""


@dataclass(frozen=True, slots=True)
class Reply:
    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: bool = False
    """Answer nothing until the server is closed."""
    drop: bool = False
    """Close the connection without an answer."""


Step = Callable[[Request], Reply]


def vector_of(text: str, dimension: int, input_type: str | None = None) -> Floats:
    """The vector the server gives for a text: of no unit length, the same on every call."""
    seed = hashlib.sha256(f"{input_type} {text}".encode()).digest()[:8]
    generator = np.random.default_rng(int.from_bytes(seed, "big"))
    return (3 * generator.standard_normal(dimension)).astype(np.float32)


def vectors(
    dimension: int = 8,
    *,
    arrange: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = lambda items: items,
    change: Callable[[Floats], Floats] = lambda vector: vector,
) -> Step:
    """A good answer, unless `arrange` (the items) or `change` (each vector) makes it a bad one."""

    def step(request: Request) -> Reply:
        items = []
        for index, text in enumerate(request.body["input"]):
            vector = change(vector_of(text, dimension, request.body.get("input_type")))
            packed = base64.b64encode(vector.astype("<f4").tobytes()).decode()
            as_base64 = request.body.get("encoding_format") == "base64"
            value = packed if as_base64 else [float(number) for number in vector]
            items.append({"object": "embedding", "index": index, "embedding": value})
        answer = {"object": "list", "model": request.body["model"], "data": arrange(items)}
        return Reply(body=json.dumps(answer).encode())

    return step


def status(code: int, headers: Mapping[str, str] | None = None, message: str = "no") -> Step:
    """An error as such servers give it; `message` must never reach a caller of ours."""
    body = json.dumps({"error": {"message": message, "type": "error"}}).encode()
    return lambda _: Reply(code, body, headers or {})


def raw(body: bytes, headers: Mapping[str, str] | None = None) -> Step:
    return lambda _: Reply(200, body, headers or {})


def hang(_: Request) -> Reply:
    return Reply(hang=True)


def drop(_: Request) -> Reply:
    return Reply(drop=True)


class EmbeddingsServer(LoopbackServer):
    """Runs in threads of its own from `with` to its end."""

    def __init__(self, script: Iterable[Step] = (), *, then: Step | None = None) -> None:
        """`then`: what every request gets after the script; None: a good answer."""
        super().__init__(_Handler)
        self.requests: list[Request] = []
        self._script = iter(list(script))
        self._then = then or vectors()
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            step = next(self._script, self._then)
        reply = step(request)
        if reply.hang:
            self.closing.wait()
        return reply


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: EmbeddingsServer

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.owner.answer(Request(self.path, headers, body, time.monotonic()))
        if reply.hang or reply.drop:
            self.close_connection = True
            return
        try:
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)
        except OSError:
            # The client has gone: that is what some tests are about.
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Tests look at `requests`."""
