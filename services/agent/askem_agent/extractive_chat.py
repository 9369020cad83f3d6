"""A chat model without a network: searches like any other, and answers in the passages' own words.

It never writes a word of its own. `askem.answering` chooses: what to search for next, and which
sentences answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr

from askem.answering.answer_text import split_answer
from askem.answering.hops import next_query
from askem.answering.markers import unbracketed
from askem.answering.models import Seen
from askem.answering.parts import parts_of
from askem.answering.picking import Picked, pick
from askem_agent.notebook import Observation
from askem_agent.settings import EXTRACTIVE
from askem_agent.tool import NAME
from askem_agent.workers import Workers

_PIECES = 3
"""Shown of a question that was searched for in parts, at least one of each."""


class ExtractiveChat(BaseChatModel):
    """Reads the artifacts of tool messages, not their text."""

    _workers: Workers = PrivateAttr()

    def __init__(self, workers: Workers | None = None) -> None:
        """`workers`: shared with who checks; own ones without."""
        super().__init__()
        self._workers = workers or Workers()

    @property
    def _llm_type(self) -> str:
        return EXTRACTIVE

    def bind_tools(
        self, tools: Sequence[Any], **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        return self.bind(searching=bool(tools))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        *,
        searching: bool = False,
        **kwargs: Any,
    ) -> ChatResult:
        question = next(str(m.text) for m in messages if isinstance(m, HumanMessage))
        observed = _observations(messages)
        message = _step(question, observed, searching=searching)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await self._workers.run(lambda _: self._generate(messages, **kwargs))


def _step(question: str, observed: Sequence[Observation], *, searching: bool) -> AIMessage:
    seen = [o.seen for o in observed]
    parts = [search for search in seen if search.query in parts_of(question)]
    if parts:
        return AIMessage(_text(_of_parts(parts), observed))
    if searching and (query := next_query(question, seen)):
        return _search(query)
    return AIMessage(_text(pick(question, seen), observed))


def _of_parts(parts: Sequence[Seen]) -> list[Picked]:
    each = max(1, _PIECES // len(parts))
    picked = [piece for part in parts for piece in pick(part.query, [part], each)]
    return list({(piece.source.passage_id, piece.start): piece for piece in picked}.values())


def _observations(messages: Sequence[BaseMessage]) -> list[Observation]:
    artifacts = (m.artifact for m in messages if isinstance(m, ToolMessage))
    # A repeated search has the artifact of the first.
    return list({id(a): a for a in artifacts if isinstance(a, Observation)}.values())


def _search(query: str) -> AIMessage:
    call = ToolCall(name=NAME, args={"question": query}, id=f"call_{uuid4().hex}", type="tool_call")
    return AIMessage("", tool_calls=[call])


def _text(picked: Sequence[Picked], observed: Sequence[Observation]) -> str:
    numbers = {source.passage_id: number for o in observed for number, source in o.numbered()}
    return "\n".join(_marked(piece.text, numbers[piece.source.passage_id]) for piece in picked)


def _marked(text: str, number: int) -> str:
    """`text` with the passage's number after each of its sentences, rows and code blocks, on as
    many lines."""
    marked, end = "", 0
    for unit in split_answer(text):
        words = text[unit.start : unit.end]
        if unit.kind == "code":
            # A line of its own: behind the fence it would be a part of it.
            piece = f"{words}\n[{number}]\n"
        elif unit.kind == "statement":
            piece = f"{unbracketed(words)} [{number}]"
        else:
            continue
        between = text[end : unit.start]
        line = between.rpartition("\n")
        marked += (line[1] + line[2] if line[1] else " " if marked else "") + piece
        end = unit.end
    return marked
