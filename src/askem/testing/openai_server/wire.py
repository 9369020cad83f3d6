"""Turns as the protocol writes them: one JSON object, or server-sent events."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from askem.testing.openai_server.turns import Call, Turn

_COMMON = {"id": "chatcmpl-1", "created": 1_700_000_000}
DONE = b"data: [DONE]\n\n"
COMMENT = b": still here\n\n"


def models(names: list[str]) -> bytes:
    """The answer of `/v1/models`."""
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in names]
    return json.dumps({"object": "list", "data": data}).encode()


def plain(turn: Turn, model: str) -> bytes:
    """The whole answer."""
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = [_call(call) for call in turn.calls]
    if turn.refusal is not None:
        message["refusal"] = turn.refusal
    choice = {"index": 0, "message": message, "finish_reason": turn.finish}
    answer = {**_COMMON, "object": "chat.completion", "model": model, "choices": [choice]}
    return json.dumps({**answer, **_usage(turn)}).encode()


def events(turn: Turn, model: str) -> Iterator[bytes]:
    """Events that carry text, refusal and calls; without the end."""
    yield _event(model, {"role": "assistant", "content": ""})
    for piece in _pieces(turn.refusal or "", turn.chunk_chars):
        yield _event(model, {"refusal": piece})
    texts = list(_pieces(turn.text, turn.chunk_chars))
    for piece in itertools.cycle(texts) if turn.repeat else texts:
        yield _event(model, {"content": piece})
    for index, call in enumerate(turn.calls):
        first = {"name": call.name, "arguments": ""}
        head = {"index": index, "id": call.id, "type": "function", "function": first}
        yield _event(model, {"tool_calls": [head]})
        for piece in _pieces(_arguments(call), turn.chunk_chars):
            part = {"index": index, "function": {"arguments": piece}}
            yield _event(model, {"tool_calls": [part]})


def end(turn: Turn, model: str, *, include_usage: bool) -> Iterator[bytes]:
    """The events that finish an answer."""
    yield _event(model, {}, turn.finish)
    if include_usage and turn.usage is not None:
        yield _data({**_chunk(model), "choices": [], **_usage(turn)})
    yield DONE


def _event(model: str, delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _data({**_chunk(model), "choices": [choice]})


def _chunk(model: str) -> dict[str, Any]:
    return {**_COMMON, "object": "chat.completion.chunk", "model": model}


def _data(value: dict[str, Any]) -> bytes:
    # Not escaped, so that characters of several bytes are on the wire.
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def _pieces(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _arguments(call: Call) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(dict(call.arguments))


def _call(call: Call) -> dict[str, Any]:
    function = {"name": call.name, "arguments": _arguments(call)}
    return {"id": call.id, "type": "function", "function": function}


def _usage(turn: Turn) -> dict[str, Any]:
    if turn.usage is None:
        return {}
    read, written = turn.usage
    counts = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return {"usage": counts}
