"""A server of `/v1/chat/completions` and `/v1/models` on loopback that does what its script says.

    with OpenAiServer([calls(Call("search", {"question": "…"})), text("Yes [1].")]) as server:
        ...  # server.url, server.requests

Each request takes the next turn of the script, plain or streamed as it was asked for.
"""

from askem.testing.openai_server.server import OpenAiServer
from askem.testing.openai_server.turns import (
    Call,
    Request,
    Turn,
    calls,
    content_filter,
    cut,
    drop,
    empty,
    endless,
    error,
    hang,
    length_cut,
    overloaded,
    raw,
    react_answer,
    react_step,
    refusal,
    text,
)

__all__ = [
    "Call",
    "OpenAiServer",
    "Request",
    "Turn",
    "calls",
    "content_filter",
    "cut",
    "drop",
    "empty",
    "endless",
    "error",
    "hang",
    "length_cut",
    "overloaded",
    "raw",
    "react_answer",
    "react_step",
    "refusal",
    "text",
]
