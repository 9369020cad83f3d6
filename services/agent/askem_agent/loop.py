"""The ReAct loop: a model, one tool, and limits that hold before each step is taken."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.runnables import Runnable

from askem_agent import tool
from askem_agent.budget import Budget
from askem_agent.models import ModelMalformed
from askem_agent.notebook import Observation
from askem_agent.tool import SearchTool
from askem_agent.wire import Limit

MAX_CALLS = 8
"""Of the tool in one step of the model; further ones are as if not made."""
_WRITE_NOW = "You cannot search any more. Write the answer now, from the passages above alone."


@dataclass(frozen=True, slots=True)
class Draft:
    """What came of the loop."""

    text: str | None
    """None: not even a last call could be made."""
    stopped: Limit | None


class Conversation:
    """One question, one model; for one task."""

    def __init__(self, model: BaseChatModel, search: SearchTool, budget: Budget) -> None:
        self._model, self._search, self._budget = model, search, budget
        self.messages: list[BaseMessage] = []
        self.model_ms = 0.0

    def begin(self, question: str, found: Sequence[Observation]) -> None:
        """The model finds the first searches, for the question itself or its parts, done."""
        self.messages = [SystemMessage(system_prompt()), HumanMessage(question)]
        for number, observation in enumerate(found):
            call = ToolCall(
                name=tool.NAME,
                args={"question": observation.query},
                id=f"call_{number}",
                type="tool_call",
            )
            self.messages += [AIMessage("", tool_calls=[call]), tool.result(call, observation)]

    async def talk(self) -> Draft:
        """Lets the model search until it writes, or until a limit; then it has one call without
        the tool. Raises errors of the model and of the retriever."""
        stopped: Limit | None
        talker = self._model.bind_tools([tool.SCHEMA])
        while not (stopped := self._budget.limit_reached(self.messages, last=False)):
            try:
                async with asyncio.timeout_at(self._budget.talking_until) as deadline:
                    reply = await self._ask(talker)
                    self.messages.append(reply)
                    if not reply.tool_calls:
                        return self._draft(reply, None)
                    for call in reply.tool_calls:
                        self.messages.append(await self._search.answer(call))
            except TimeoutError:
                if not deadline.expired():
                    raise
                stopped = "time"
                break
            if self._search.refused_search:
                stopped = "searches"
                break
        last = await self._last_words()
        return Draft(None, stopped) if last is None else self._draft(last, stopped)

    def _draft(self, reply: AIMessage, stopped: Limit | None) -> Draft:
        """What was written, as far as it was asked for."""
        text, most = str(reply.text), self._budget.most_chars
        return Draft(text[:most], stopped or ("length" if len(text) > most else None))

    async def _last_words(self) -> AIMessage | None:
        self._answer_open_calls()
        messages = [*self.messages, HumanMessage(_WRITE_NOW)]
        if self._budget.limit_reached(messages, last=True):
            return None
        self.messages = messages
        try:
            async with asyncio.timeout_at(self._budget.writing_until) as deadline:
                return await self._ask(self._model)
        except ModelMalformed:
            # It goes on calling a tool that it no longer has: what was seen is still there.
            return None
        except TimeoutError:
            if not deadline.expired():
                raise
            return None

    async def _ask(self, model: Runnable[LanguageModelInput, AIMessage]) -> AIMessage:
        self._budget.model_calls += 1
        start = time.perf_counter()
        try:
            reply = await model.ainvoke(self.messages)
        except ModelMalformed as error:
            self._budget.count_unusable(self.messages, error.usage)
            raise
        except asyncio.CancelledError:
            self._budget.count_unusable(self.messages)
            raise
        finally:
            self.model_ms += (time.perf_counter() - start) * 1e3
        self._budget.count(self.messages, reply)
        if len(reply.tool_calls) > MAX_CALLS:
            return reply.model_copy(update={"tool_calls": reply.tool_calls[:MAX_CALLS]})
        return reply

    def _answer_open_calls(self) -> None:
        """Servers refuse a call without its result; the clock may have cut some off."""
        done = {m.tool_call_id for m in self.messages if isinstance(m, ToolMessage)}
        calls = [c for m in self.messages if isinstance(m, AIMessage) for c in m.tool_calls]
        self.messages += [
            tool.error(call, tool.NO_SEARCH_LEFT) for call in calls if call["id"] not in done
        ]


def system_prompt() -> str:
    """The instructions, from the package's `prompts/system.txt`."""
    return (files("askem_agent") / "prompts" / "system.txt").read_text("utf-8")
