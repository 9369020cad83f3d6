"""What a run may use: model calls, searches, tokens, money and time, none of them to be exceeded."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage

from askem_agent.wire import Limit

_BYTES_PER_TOKEN = 2
"""Fewer than any tokenizer's on average, so that an estimate is too high rather than too low."""
_TALKING_SHARE = 0.75
"""Of the time; the rest is for a last answer."""


@dataclass(frozen=True, slots=True)
class Limits:
    model_calls: int
    searches: int
    tokens: int
    cost_usd: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a million tokens."""

    input_usd: float
    output_usd: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        return (input_tokens * self.input_usd + output_tokens * self.output_usd) / 1e6


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of one model call: at most this much."""

    input_tokens: int
    output_tokens: int


class Budget:
    """For one run. Times are the event loop's."""

    def __init__(self, limits: Limits, price: Price | None, *, max_output_tokens: int) -> None:
        """`price`: None where none is configured; `max_output_tokens`: what one call may write."""
        self._limits, self._price = limits, price
        self._max_output = max_output_tokens
        self._start = asyncio.get_running_loop().time()
        self.model_calls = self.searches = 0
        self.input_tokens = self.output_tokens = 0
        self._known: tuple[int, int] | None = None

    @property
    def talking_until(self) -> float:
        """When calls that may search must have ended."""
        return self._start + self._limits.seconds * _TALKING_SHARE

    @property
    def deadline(self) -> float:
        return self._start + self._limits.seconds

    @property
    def cost_usd(self) -> float | None:
        return self._price.of(self.input_tokens, self.output_tokens) if self._price else None

    @property
    def searches_left(self) -> int:
        return self._limits.searches - self.searches

    def limit_reached(self, messages: Sequence[BaseMessage], *, last: bool) -> Limit | None:
        """Which limit forbids a call with `messages`; None: it may be made.

        A call that is not the `last` one must leave enough for another.
        """
        calls = 1 if last else 2
        if self.model_calls + calls > self._limits.model_calls:
            return "model calls"
        now = asyncio.get_running_loop().time()
        if now >= (self.deadline if last else self.talking_until):
            return "time"
        ahead = self._estimate(messages)
        used = self.input_tokens + self.output_tokens
        if used + calls * (ahead.input_tokens + ahead.output_tokens) > self._limits.tokens:
            return "tokens"
        if self._price:
            cost = self._price.of(ahead.input_tokens, ahead.output_tokens)
            if (self.cost_usd or 0.0) + calls * cost > self._limits.cost_usd:
                return "cost"
        return None

    def count_call(self, messages: Sequence[BaseMessage], reply: AIMessage) -> None:
        """Books a call; what its server did not count is estimated."""
        self.model_calls += 1
        usage = reply.usage_metadata
        read = usage["input_tokens"] if usage else self._estimate(messages).input_tokens
        written = usage["output_tokens"] if usage else _tokens(reply)
        self.input_tokens += read
        self.output_tokens += written
        self._known = (len(messages), read)

    def _estimate(self, messages: Sequence[BaseMessage]) -> Estimate:
        count, known = self._known or (0, 0)
        ahead = known + sum(map(_tokens, messages[count:]))
        return Estimate(ahead, self._max_output)


def _tokens(message: BaseMessage) -> int:
    calls = message.tool_calls if isinstance(message, AIMessage) else ()
    size = len(message.text.encode()) + sum(len(str(call).encode()) for call in calls)
    return size // _BYTES_PER_TOKEN + 8
