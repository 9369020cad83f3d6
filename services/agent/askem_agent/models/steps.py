"""What a step is, and what a protocol has to do. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from langchain_core.messages import BaseMessage

from askem_agent.models.answer import Answer

Tool = Mapping[str, Any]
"""A tool in OpenAI's form: `{"type": "function", "function": {"name": …, "parameters": …}}`."""


class NotAStep(Exception):
    """The model's answer is no step; the message tells the model what was wrong."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call of a tool that was offered, with arguments that have what it requires."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """Calls of tools with the thought before them, or without calls the final text."""

    text: str
    uses: tuple[ToolUse, ...] = ()


class StepProtocol(Protocol):
    """How tools are offered to a model, and how its answers are read."""

    def request(
        self, messages: Sequence[BaseMessage], tools: Sequence[Tool]
    ) -> tuple[list[BaseMessage], dict[str, Any]]:
        """What to send: messages, and fields of the request."""

    def read(self, answer: Answer, tools: Sequence[Tool]) -> Step:
        """Raises NotAStep."""

    def shown(self, text: str) -> str:
        """The part of an unfinished answer's `text` that is sure to begin its final text."""

    def complaint(self, answer: Answer, reason: str) -> list[BaseMessage]:
        """What goes on the conversation so that the model does better."""
