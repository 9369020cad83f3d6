"""What a run may use: model calls, searches, tokens, money and time. No call may exceed it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata

from askem_agent.wire import Limit

_BYTES_PER_TOKEN = 2
"""Fewer than any tokenizer's on average, so that an estimate is too high rather than too low."""
_CHARS_PER_TOKEN = 8
"""More than any tokenizer's on average: what a model writes beyond that was not asked for."""
_MOST_CHARS = 200_000
_TALKING_SHARE = 0.75
"""Of the time; the rest is for a last answer ..."""
_WRITING_SHARE = 0.85
"""... and from here on for picking and checking."""


@dataclass(frozen=True, slots=True)
class Limits:
    model_calls: int
    searches: int
    tokens: int
    cost: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Rates:
    """What one call of a model can use."""

    input_price: float | None
    """For a million tokens."""
    output_price: float | None
    max_output_tokens: int
    tries: int
    """How often the model may be asked within a call, until its answer is a step."""

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        """None where a price is not known."""
        if self.input_price is None or self.output_price is None:
            return None
        return (input_tokens * self.input_price + output_tokens * self.output_price) / 1e6


class Budget:
    """For one run. Times are the event loop's."""

    def __init__(self, limits: Limits, rates: Rates | None) -> None:
        """`rates`: None for a model that uses nothing."""
        self._limits, self._rates = limits, rates
        self._start = asyncio.get_running_loop().time()
        self.model_calls = self.searches = 0
        self.input_tokens = self.output_tokens = 0
        self._counted = (0, 0)

    @property
    def uses_tokens(self) -> bool:
        """Whether a model was called that reads and writes tokens."""
        return self._rates is not None and self.model_calls > 0

    @property
    def talking_until(self) -> float:
        """When calls that may search must have ended."""
        return self._start + self._limits.seconds * _TALKING_SHARE

    @property
    def writing_until(self) -> float:
        """When the last call must have ended."""
        return self._start + self._limits.seconds * _WRITING_SHARE

    @property
    def deadline(self) -> float:
        return self._start + self._limits.seconds

    @property
    def most_chars(self) -> int:
        """Of what a model may write in one call."""
        asked = self._rates.max_output_tokens * _CHARS_PER_TOKEN if self._rates else _MOST_CHARS
        return min(asked, _MOST_CHARS)

    @property
    def cost(self) -> float | None:
        """In the currency of the prices; None where they are not known."""
        return self._rates.cost(self.input_tokens, self.output_tokens) if self._rates else None

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
        if now >= (self.writing_until if last else self.talking_until):
            return "time"
        if self._rates is None:
            return None
        return self._too_much(self._rates, messages, 0 if last else 1)

    def _too_much(self, rates: Rates, messages: Sequence[BaseMessage], more: int) -> Limit | None:
        """Whether a call and `more` others could use more than is left."""
        tries = rates.tries + more
        read = self.input_tokens + tries * self._estimate(messages)
        written = self.output_tokens + tries * rates.max_output_tokens
        if read + written > self._limits.tokens:
            return "tokens"
        cost = rates.cost(read, written)
        return "cost" if cost is not None and cost > self._limits.cost else None

    def count(self, messages: Sequence[BaseMessage], reply: AIMessage) -> None:
        """Books a call's tokens; what its server did not count is estimated."""
        if self._rates is None:
            return
        usage = reply.usage_metadata
        read = usage["input_tokens"] if usage else self._estimate(messages)
        self.input_tokens += read
        self.output_tokens += usage["output_tokens"] if usage else _tokens(reply)
        self._counted = (len(messages), read)

    def count_unusable(
        self, messages: Sequence[BaseMessage], usage: UsageMetadata | None = None
    ) -> None:
        """Books the tokens of a call that came to nothing, or was cut off: what was read can be
        estimated, what was written until then cannot."""
        self.count(messages, AIMessage("", usage_metadata=usage))

    def _estimate(self, messages: Sequence[BaseMessage]) -> int:
        """Tokens of `messages`; those that were sent before have been counted."""
        count, known = self._counted
        return known + sum(map(_tokens, messages[count:]))


def _tokens(message: BaseMessage) -> int:
    calls = message.tool_calls if isinstance(message, AIMessage) else ()
    size = _bytes(message.text) + sum(_bytes(str(call)) for call in calls)
    return size // _BYTES_PER_TOKEN + 8


def _bytes(text: str) -> int:
    # What a server says may hold what UTF-8 cannot carry.
    return len(text.encode(errors="replace"))
