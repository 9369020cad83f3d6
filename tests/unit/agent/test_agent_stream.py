"""The same run as events."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import httpx
import pytest

from askem.testing.openai_server import Call, calls, hang, text
from askem_agent.stream import PIECE_BYTES, EventStream, wants_events
from askem_agent.wire import TokenEvent

KEY = "test-key-0123456789"
OTHER = "other-key-0123456789"
QUESTION = "SIDARTHE stages of infection"
WRITTEN = (
    "The SIDARTHE model has eight stages of infection [1]. It was described in 1849 [99]. "
    "It was fitted to 46 days of data from Lombardy [1]."
)


def without_times(answer: Any) -> Any:
    steps = [{**step, "ms": 0} for step in answer["steps"]]
    return {**answer, "steps": steps, "timings": {}}


def test_the_final_event_is_the_answer(open_door: Any) -> None:
    door = open_door([text(WRITTEN)] * 2)
    events = door.stream(QUESTION)
    names = [name for name, _ in events]
    assert names == ["step", "observation", *["token", "citation"] * 2, "final"]
    final = events[-1][1]
    assert without_times(final) == without_times(door.answer(QUESTION))
    assert "".join(data["text"] for name, data in events if name == "token") == final["answer"]


def test_citations_come_with_their_sentence(open_door: Any) -> None:
    events = open_door([text(WRITTEN)]).stream(QUESTION)
    cited = [data for name, data in events if name == "citation"]
    assert [(c["sentence"], c["marker"], c["passage_id"]) for c in cited] == [
        (0, 1, "sidarthe#p0"),
        (1, 1, "sidarthe#p0"),
    ]
    sentences = events[-1][1]["sentences"]
    for citation in cited:
        assert citation["quote"] == sentences[citation["sentence"]]["citations"][0]["quote"]


def test_an_invented_marker_is_in_no_event(open_door: Any) -> None:
    door = open_door([text(WRITTEN)])
    headers = {"Accept": "text/event-stream"}
    body = {"question": QUESTION}
    response = door.app.request("POST", "/react", json=body, headers=headers)
    assert "[99]" not in response.text
    assert "1849" not in response.text
    assert response.headers["cache-control"] == "no-store"


def test_searches_are_told(open_door: Any) -> None:
    door = open_door([calls(Call("search_literature", {"question": "biochar"})), text(WRITTEN)])
    steps = [data for name, data in door.stream(QUESTION) if name == "step"]
    assert [(s["number"], s["query"], s["asked_by"]) for s in steps] == [
        (1, QUESTION, "question"),
        (2, "biochar", "model"),
    ]


def test_a_refusal_is_told_too(open_door: Any) -> None:
    events = open_door().stream("what is it?")
    assert [name for name, _ in events] == ["step", "observation", "token", "final"]
    assert events[-1][1]["refused"]


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_caller_who_goes_away_stops_the_work(open_door: Any, accept: str) -> None:
    door = open_door([hang()], runs=1)
    body = json.dumps({"question": QUESTION}).encode()
    headers = {"Api-Key": KEY, "Content-Type": "application/json", "Accept": accept}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/react",
        "raw_path": b"/react",
        "query_string": b"",
        "headers": [(n.lower().encode(), v.encode()) for n, v in headers.items()],
    }
    messages: list[Any] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        if messages:
            return messages.pop()
        await door.asked()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pass

    async def leave() -> None:
        # It returns, though the model never answers; and the model's server sees the line closed.
        await asyncio.wait_for(door.app.app(scope, receive, send), 5)
        assert await asyncio.to_thread(door.models.requests[0].gone.wait, 5)

    door.app.run(leave())


def test_silence_is_filled_with_comments() -> None:
    async def work(emit: Any) -> None:
        await asyncio.sleep(0.1)
        emit("token", TokenEvent(text="done"))

    async def told() -> bytes:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        stream = EventStream(work, contextlib.nullcontext(), run_s=5, piece_s=0.02)
        await stream({"type": "http"}, asyncio.Event().wait, send)
        return b"".join(message.get("body", b"") for message in sent)

    text = asyncio.run(told()).decode()
    assert text.startswith(": ")
    assert text.endswith('event: token\ndata: {"text":"done"}\n\n')


def test_a_reader_who_does_not_read_is_cut_off() -> None:
    """The place is free again, and the work ends."""
    ended = asyncio.Event()

    async def work(emit: Any) -> None:
        emit("token", TokenEvent(text="x" * 3 * PIECE_BYTES))
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def told() -> int:
        sizes: list[int] = []

        async def send(message: Any) -> None:
            sizes.append(len(message.get("body", b"")))
            # The first piece fits into buffers.
            await asyncio.sleep(0 if len(sizes) <= 2 else 3600)

        stream = EventStream(work, contextlib.nullcontext(), run_s=3600, piece_s=0.02)
        await asyncio.wait_for(stream({"type": "http"}, asyncio.Event().wait, send), 5)
        return max(sizes)

    assert asyncio.run(told()) <= PIECE_BYTES
    assert ended.is_set()


def test_runs_have_places(open_door: Any) -> None:
    door = open_door([hang()], runs=1)

    async def ask_beside() -> list[httpx.Response]:
        first = asyncio.create_task(door.app.client.post("/react", json={"question": QUESTION}))
        await door.asked()
        beside = [
            await door.app.client.post(
                "/react", json={"question": QUESTION}, headers={"Accept": accept}
            )
            for accept in ("application/json", "text/event-stream")
        ]
        first.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await first
        return beside

    for response in door.app.run(ask_beside()):
        assert response.status_code == 503
        assert response.headers["retry-after"] == "5"
    # The place is free again: the next one is no longer refused for want of one.
    assert door.ask(QUESTION).status_code != 503


@pytest.mark.parametrize(
    ("accept", "events"),
    [
        ("", False),
        ("*/*", False),
        ("text/event-stream", True),
        ("Text/Event-Stream; charset=utf-8", True),
        ("text/event-stream;q=0", False),
        ("application/json, text/event-stream;q=0.5", False),
        ("application/json;q=0.5, text/event-stream", True),
        ("text/event-stream;q=x", False),
    ],
)
def test_which_form_is_wanted(accept: str, events: bool) -> None:
    assert wants_events(accept) is events


def test_places_are_shared_among_keys(open_door: Any) -> None:
    """A key that has half of them gets no more once another key asks."""
    door = open_door([hang()] * 2, runs=2, second_key=OTHER)
    headers = {"Api-Key": OTHER}

    async def ask_beside() -> list[int]:
        first = asyncio.create_task(door.app.client.post("/react", json={"question": QUESTION}))
        await door.asked()
        body = {"question": "what is it?"}
        codes = [(await door.app.client.post("/react", json=body, headers=headers)).status_code]
        codes.append((await door.app.client.post("/react", json=body)).status_code)
        first.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await first
        return codes

    assert door.app.run(ask_beside()) == [200, 503]
