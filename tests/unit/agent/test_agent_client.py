"""What the client makes of streams, good and bad; and what `askem ask` prints of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from askem.http.exchange import ServerFault, Unavailable
from askem.testing.loopback import LoopbackServer
from askem_agent.cli import ask
from askem_agent.client import AgentClient, Event
from askem_agent.examples import ANSWER
from askem_agent.wire import ReactRequest, ReactResponse, TokenEvent

KEY = "test-key-0123456789"
TOKEN = 'event: token\ndata: {"text": "Yes"}\n\n'
FINAL = f"event: final\ndata: {json.dumps(ANSWER)}\n\n"
PROBLEM = {"type": "urn:askem:x", "title": "T", "status": 503, "detail": "D", "request_id": "r1"}


def events(text: str, status: int = 200) -> list[Event]:
    transport = httpx.MockTransport(lambda _: httpx.Response(status, text=text))
    with AgentClient("http://agent", KEY, transport=transport) as client:
        return list(client.events(ReactRequest(question="x")))


def test_events_are_read_and_others_passed_over() -> None:
    noise = ": comment\n\nevent: weather\ndata: {}\n\nid: 7\nretry: 1\n\n"
    found = events(noise + TOKEN + noise + FINAL + TOKEN)
    assert [event.name for event in found] == ["token", "final"]
    assert found[0].data == TokenEvent(text="Yes")
    assert isinstance(found[1].data, ReactResponse)


@pytest.mark.parametrize("text", ["", TOKEN, ": comment\n\n"])
def test_a_stream_that_ends_too_soon_is_a_fault(text: str) -> None:
    with pytest.raises(ServerFault, match="ended before the answer"):
        events(text)


def test_an_event_of_another_shape_is_a_fault() -> None:
    with pytest.raises(ServerFault, match="another shape"):
        events("event: final\ndata: {}\n\n")


@pytest.mark.parametrize(
    ("status", "kind"), [(503, Unavailable), (502, Unavailable), (500, ServerFault)]
)
def test_a_problem_in_mid_stream_is_raised(status: int, kind: type[Exception]) -> None:
    problem = json.dumps({**PROBLEM, "status": status})
    with pytest.raises(kind, match=f"{status} D") as raised:
        events(f"{TOKEN}event: error\ndata: {problem}\n\n")
    found: Any = raised.value
    assert found.request_id == "r1"


def test_a_refused_request_is_raised() -> None:
    with pytest.raises(Unavailable, match="503 D"):
        events(json.dumps(PROBLEM), 503)


class Handler(BaseHTTPRequestHandler):
    """Answers with `text` of the server."""

    text = ""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = self.text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Nobody reads it."""


@pytest.fixture
def hostile() -> Iterator[str]:
    """A server whose every text would move a terminal's cursor."""
    evil = "\x1b[2J\u202e\x07\x9b31m"
    answer = json.loads(json.dumps(ANSWER).replace("sidarthe-lombardy", "a\\u001b"))
    answer["sentences"][0]["citations"][0]["quote"] += evil
    answer["confidence_basis"] = f"basis{evil}"
    step = {"number": 1, "query": f"q{evil}", "asked_by": "model"}
    text = "".join(
        f"event: {name}\ndata: {json.dumps(data)}\n\n"
        for name, data in (("step", step), ("token", {"text": f"Yes{evil}"}), ("final", answer))
    )
    handler = type("Hostile", (Handler,), {"text": text})
    with LoopbackServer(handler) as server:
        yield server.url.removesuffix("/v1")


def test_a_terminal_is_not_made_to_obey(hostile: str) -> None:
    result = CliRunner().invoke(ask, ["x", "--url", hostile, "--api-key", KEY])
    assert result.exit_code == 0
    assert "Yes[2J" in result.stdout
    for character in "\x1b\u202e\x07\x9b":
        assert character not in result.output
