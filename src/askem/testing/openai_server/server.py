"""Sockets for the script."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler

from askem.testing.loopback import LoopbackServer
from askem.testing.openai_server import wire
from askem.testing.openai_server.connection import Connection, Left
from askem.testing.openai_server.turns import Request, Step, Turn, error

COMPLETIONS = "/v1/chat/completions"


class OpenAiServer(LoopbackServer):
    """Runs in threads of its own from `with` to its end."""

    def __init__(
        self,
        script: Iterable[Step] | Callable[[Request], Turn] = (),
        *,
        then: Step | None = None,
        models: Sequence[str] = ("test-model",),
    ) -> None:
        """`script`: a turn for each request, or a function of the request for all of them.
        `then`: what requests get after the script, `calls(...)` for a model that never ends its
        search; None: 400, "the script is over"."""
        super().__init__(_Handler)
        self.requests: list[Request] = []
        """Of completions, in the order in which they came."""
        self.paths: list[str] = []
        """Of every request, whatever it was for."""
        self.models = list(models)
        self._script: Iterator[Step]
        self._then: Step
        if callable(script):
            self._script, self._then = iter(()), script
        else:
            self._script, self._then = iter(list(script)), then or error(400, "the script is over")
        self._lock = threading.Lock()

    def turn(self, request: Request) -> Turn:
        """The next turn; `request` is recorded."""
        with self._lock:
            self.requests.append(request)
            step = next(self._script, self._then)
        return step(request) if callable(step) else step

    def saw_path(self, path: str) -> None:
        with self._lock:
            self.paths.append(path)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Without it, small chunks wait for the acknowledgement of the one before.
    disable_nagle_algorithm = True
    owner: OpenAiServer

    def do_GET(self) -> None:
        self.owner.saw_path(self.path)
        known = self.path == "/v1/models"
        body = (
            wire.models(self.owner.models) if known else b'{"error": {"message": "no such path"}}'
        )
        self._connection().whole(200 if known else 404, {}, body)

    def do_POST(self) -> None:
        self.owner.saw_path(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection = self._connection()
        if self.path != COMPLETIONS:
            connection.whole(404, {}, b'{"error": {"message": "no such path"}}')
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, json.loads(body), time.monotonic())
        try:
            _answer(connection, request, self.owner.turn(request))
        except (Left, OSError):
            self.close_connection = True
            if not self.owner.closing.is_set():
                request.gone.set()

    def _connection(self) -> Connection:
        return Connection(self, self.owner.closing)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Tests look at `requests`."""


def _answer(connection: Connection, request: Request, turn: Turn) -> None:
    if turn.hang:
        connection.wait(None)
    elif turn.status == 0:
        connection.close()
    elif turn.body is not None:
        connection.wait(turn.pause_s)
        connection.whole(turn.status, turn.headers, turn.body)
    elif request.body.get("stream"):
        _stream(connection, request, turn)
    else:
        _plain(connection, request, turn)


def _plain(connection: Connection, request: Request, turn: Turn) -> None:
    body = wire.plain(turn, request.body["model"])
    connection.wait(turn.pause_s)
    if turn.repeat:
        connection.begin(turn.headers, "application/json")
        while True:
            connection.part(b" " * 64)
            connection.wait(turn.pause_s)
    keep = len(body) if turn.cut_after is None else len(body) // 2
    connection.whole(turn.status, turn.headers, body, keep=keep)


def _stream(connection: Connection, request: Request, turn: Turn) -> None:
    model = request.body["model"]
    comment = wire.COMMENT if turn.comments else None
    connection.begin(turn.headers, "text/event-stream")
    for number, event in enumerate(wire.events(turn, model)):
        if number == turn.cut_after:
            connection.finish() if turn.clean_cut else connection.close()
            return
        connection.wait(turn.pause_s, comment)
        connection.part(event)
    options = request.body.get("stream_options") or {}
    for event in wire.end(turn, model, include_usage=bool(options.get("include_usage"))):
        connection.part(event)
    connection.finish()
