"""A chat model without a network: searches like any other, and answers in the passages' own words.

It never writes a word of its own. `askem.answering` chooses: what to search for next, and which
sentences answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable

from askem.answering.answer_text import split_answer
from askem.answering.hops import next_query
from askem.answering.models import Seen
from askem.answering.picking import Picked, pick
from askem.answering.refusal import confidence
from askem.text.analysis import tokens
from askem_agent.notebook import Observation
from askem_agent.settings import EXTRACTIVE
from askem_agent.tool import NAME

PATIENCE = 2
"""Further searches in a row that may bring nothing of the question, before there are no more."""
# "[39]" in a paper names a work in its list; in an answer it would name one of our passages.
_REFERENCE = re.compile(r"\s?\[\d[\d,;\s\u2013-]{0,60}\](?:\s+(?=[.,;:]))?")


class ExtractiveChat(BaseChatModel):
    """Reads the artifacts of tool messages, not their text."""

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


def _step(question: str, observed: Sequence[Observation], *, searching: bool) -> AIMessage:
    first, *further = [o.seen for o in observed]
    picked = pick(question, [first])
    # Where one sentence stands out already, more would only dilute.
    open_ = searching and confidence(first, picked) != "high"
    if open_ and (query := _next_query(question, first, further)):
        return _search(query)
    # So would what a further search found beside the question.
    useful = [seen for seen in further if _adds(seen, first)]
    return AIMessage(_text(pick(question, [first, *useful]) if useful else picked, observed))


def _observations(messages: Sequence[BaseMessage]) -> list[Observation]:
    artifacts = (m.artifact for m in messages if isinstance(m, ToolMessage))
    # A repeated search has the artifact of the first.
    return list({id(a): a for a in artifacts if isinstance(a, Observation)}.values())


def _next_query(question: str, first: Seen, further: Sequence[Seen]) -> str | None:
    fruitless = [not _adds(search, first) for search in further]
    if fruitless[-PATIENCE:] == [True] * PATIENCE:
        return None
    return next_query(question, [first, *further])


def _adds(search: Seen, first: Seen) -> bool:
    """Whether a further search's best passage has a word of the question that the best passage of
    the question's own search lacks."""
    if not search.sources or not first.sources:
        return bool(search.sources)
    lacking = first.idf.keys() - set(tokens(first.sources[0].text))
    return not lacking.isdisjoint(tokens(search.sources[0].text))


def _search(query: str) -> AIMessage:
    call = ToolCall(name=NAME, args={"question": query}, id=f"call_{uuid4().hex}", type="tool_call")
    return AIMessage("", tool_calls=[call])


def _text(picked: Sequence[Picked], observed: Sequence[Observation]) -> str:
    numbers = {source.passage_id: number for o in observed for number, source in o.numbered()}
    return "\n".join(_marked(piece.text, numbers[piece.source.passage_id]) for piece in picked)


def _marked(text: str, number: int) -> str:
    """`text` with the passage's number after each of its sentences."""
    bare = _REFERENCE.sub("", text)
    units = [bare[unit.start : unit.end] for unit in split_answer(bare) if unit.needs_citation]
    return " ".join(f"{unit} [{number}]" for unit in units)
