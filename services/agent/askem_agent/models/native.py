"""Tools that the model calls by the protocol itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from askem_agent.models import tool_use
from askem_agent.models.answer import Answer
from askem_agent.models.steps import NotAStep, Step, Tool, ToolUse

_MAX_REPEATED = 2_000


class NativeTools:
    """A StepProtocol."""

    def request(
        self, messages: Sequence[BaseMessage], tools: Sequence[Tool]
    ) -> tuple[list[BaseMessage], dict[str, Any]]:
        return list(messages), {"tools": list(tools)} if tools else {}

    def read(self, answer: Answer, tools: Sequence[Tool]) -> Step:
        if answer.finish == "length" and (answer.calls or not answer.text.strip()):
            raise NotAStep("the answer was cut off for its length; be shorter")
        uses = []
        for call in answer.calls:
            function = tool_use.offered(call.name, tools)
            arguments = tool_use.from_json(call.arguments, function)
            uses.append(ToolUse(call.id or f"call_{uuid4().hex}", call.name, arguments))
        if not uses and not answer.text.strip():
            raise NotAStep("the answer was empty; call a tool or answer")
        return Step(answer.text, tuple(uses))

    def shown(self, text: str) -> str:
        return text

    def complaint(self, answer: Answer, reason: str) -> list[BaseMessage]:
        # As text: servers fail on arguments that are not JSON when they are given back as calls.
        calls = [f"[call of {call.name}: {call.arguments}]" for call in answer.calls]
        said = "\n".join([answer.text, *calls]).strip()[:_MAX_REPEATED]
        complaint = HumanMessage(f"That could not be used: {reason}.")
        return [AIMessage(said), complaint] if said else [complaint]
