"""What a scripted model says and does, a turn at a time. Good turns can be changed to bad ones
with `dataclasses.replace`."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

FIRST_USAGE = (11, 7)
"""Tokens in and out of a turn that says nothing else."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the server was asked."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    arrived_s: float
    """Monotonic time."""
    gone: threading.Event = field(default_factory=threading.Event, compare=False)
    """Set once the client was seen to close the connection before the answer's end."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool, made natively."""

    name: str
    arguments: Mapping[str, Any] | str
    """A string is sent as it is: for arguments that are no JSON."""
    id: str = "call_1"


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the server. Times in seconds."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    refusal: str | None = None
    finish: str | None = "stop"
    """`finish_reason`."""
    usage: tuple[int, int] | None = FIRST_USAGE
    """Tokens in and out; None: not told, whatever was asked for."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Sent as it is, in place of all the above but status and headers."""
    chunk_chars: int = 12
    """How much text or arguments a streamed chunk holds."""
    pause_s: float = 0.0
    """Before a plain answer, and before each chunk of a streamed one."""
    comments: bool = False
    """Send an SSE comment in place of each pause's silence, every 20 ms."""
    cut_after: int | None = None
    """Close the connection after so many chunks, or half-way through a plain answer."""
    clean_cut: bool = False
    """Close as if the answer were whole: only `finish_reason` and `[DONE]` are missing."""
    repeat: bool = False
    """Go on with the text for ever."""
    hang: bool = False
    """Answer nothing until the client goes or the server is closed."""


Step = Turn | Callable[[Request], Turn]


def text(content: str, **changes: Any) -> Turn:
    """A final answer; `changes` are fields of Turn."""
    return Turn(text=content, **changes)


def calls(*made: Call, **changes: Any) -> Turn:
    """Native calls of tools, with ids that differ, after `text` if that is given."""
    numbered = tuple(replace(call, id=f"call_{i}") for i, call in enumerate(made, 1))
    return Turn(calls=numbered, **{"finish": "tool_calls", **changes})


def react_step(thought: str, action: str, action_input: Mapping[str, Any] | str) -> Turn:
    """A step in the text format."""
    given = action_input if isinstance(action_input, str) else json.dumps(action_input)
    return Turn(text=f"Thought: {thought}\nAction: {action}\nAction Input: {given}")


def react_answer(answer: str, thought: str = "I can answer now.") -> Turn:
    return Turn(text=f"Thought: {thought}\nFinal Answer: {answer}")


def refusal(message: str = "I can't help with that.") -> Turn:
    return Turn(refusal=message)


def content_filter(shown: str = "") -> Turn:
    return Turn(text=shown, finish="content_filter")


def length_cut(shown: str) -> Turn:
    return Turn(text=shown, finish="length")


def empty() -> Turn:
    return Turn()


def endless(piece: str = "and so on ", pause_s: float = 0.001) -> Turn:
    return Turn(text=piece, repeat=True, pause_s=pause_s)


def cut(content: str, after_chunks: int = 1, *, clean: bool = False) -> Turn:
    return Turn(text=content, cut_after=after_chunks, clean_cut=clean)


def error(
    status: int,
    message: str = "upstream says no",
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Turn:
    """An error as such servers give it; `message` must never reach a caller of ours."""
    body = {"error": {"message": message, "type": "error", "code": code}}
    return Turn(status=status, body=json.dumps(body).encode(), headers=headers or {})


def overloaded(retry_after: str | None = "0") -> Turn:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return error(429, "slow down", headers=headers)


def raw(body: bytes, content_type: str = "application/json", status: int = 200) -> Turn:
    return Turn(status=status, body=body, headers={"Content-Type": content_type})


def hang() -> Turn:
    return Turn(hang=True)


def drop() -> Turn:
    """Closes the connection without a byte."""
    return Turn(cut_after=0, status=0)
