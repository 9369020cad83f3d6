"""Tools for models that do not call any themselves: offered, called and answered in text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from askem_agent.models import react_text, tool_use
from askem_agent.models.answer import Answer
from askem_agent.models.steps import NotAStep, Step, Tool, ToolUse

STOP = ["\nObservation:"]
_MAX_REPEATED = 2_000
_FORMAT = """\
You can use these tools:
{tools}

Write one step at a time, in exactly this format:

Thought: what is needed next
Action: the name of one tool
Action Input: a JSON object with its arguments

Then stop. You will be given the result as "Observation:"; never write one yourself.
When you can answer, write instead:

Thought: why this is enough
Final Answer: the answer"""
_NO_TOOLS = "Answer now, without tools. Begin with 'Final Answer:'."


class ReactText:
    """A StepProtocol."""

    def request(
        self, messages: Sequence[BaseMessage], tools: Sequence[Tool]
    ) -> tuple[list[BaseMessage], dict[str, Any]]:
        how = _FORMAT.format(tools="\n".join(map(_described, tools))) if tools else _NO_TOOLS
        first = [message.text for message in messages if isinstance(message, SystemMessage)]
        sent: list[BaseMessage] = [SystemMessage("\n\n".join([*first, how]))]
        for message in messages:
            if not isinstance(message, SystemMessage):
                _append(sent, message)
        return sent, {"stop": STOP}

    def read(self, answer: Answer, tools: Sequence[Tool]) -> Step:
        if answer.calls:
            raise NotAStep("tools are called in text, in the format that was given")
        if not answer.text.strip():
            raise NotAStep("the answer was empty")
        step = react_text.read_step(answer.text)
        if isinstance(step, react_text.Final):
            return Step(step.text)
        if answer.finish == "length":
            raise NotAStep("the answer was cut off for its length; be shorter")
        function = tool_use.offered(step.name, tools)
        arguments = tool_use.from_text(step.given, function)
        return Step(step.thought, (ToolUse(f"call_{uuid4().hex}", step.name, arguments),))

    def shown(self, text: str) -> str:
        return react_text.final_so_far(text)

    def complaint(self, answer: Answer, reason: str) -> list[BaseMessage]:
        said = answer.text.strip()[:_MAX_REPEATED]
        complaint = HumanMessage(f"That is not a step: {reason}. Write it again in the format.")
        return [AIMessage(said), complaint] if said else [complaint]


def _described(tool: Tool) -> str:
    function = tool["function"]
    arguments = json.dumps(function.get("parameters", {}).get("properties", {}), ensure_ascii=False)
    return f"- {function['name']}: {function.get('description', '')}\n  arguments: {arguments}"


def _append(sent: list[BaseMessage], message: BaseMessage) -> None:
    """Adds `message` as plain text. Results of tools come from the user, in one message: many
    chat templates want roles in turn."""
    if isinstance(message, ToolMessage):
        observation = f"Observation: {message.text}"
        if sent and isinstance(sent[-1], HumanMessage) and sent[-1].text.startswith("Observation:"):
            observation = f"{sent.pop().text}\n\n{observation}"
        sent.append(HumanMessage(observation))
    elif isinstance(message, AIMessage):
        sent.append(AIMessage(_written(message)))
    else:
        sent.append(message)


def _written(message: AIMessage) -> str:
    """A step of the model's as it would have written it."""
    if not message.tool_calls:
        return f"Final Answer: {message.text}"
    calls = (
        f"Action: {call['name']}\nAction Input: {json.dumps(call['args'], ensure_ascii=False)}"
        for call in message.tool_calls
    )
    return "\n".join([f"Thought: {message.text}", *calls])
