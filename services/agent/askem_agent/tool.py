"""The one tool: `search_literature`. The model chooses the question, the server everything else."""

from __future__ import annotations

import time
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage

from askem.http.fields import FieldErrors
from askem.text.decoding import clean
from askem_agent.budget import Budget
from askem_agent.events import Emit
from askem_agent.inert import inert
from askem_agent.notebook import Notebook, Observation
from askem_agent.observing import observation_text
from askem_agent.searching import Searcher
from askem_agent.wire import AskedBy, ObservationEvent, SeenPassage, StepEvent, StepOut

NAME = "search_literature"
SCHEMA: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": NAME,
        "description": "Searches the literature. Returns numbered passages that may answer the "
        "question.",
        "parameters": {
            "type": "object",
            "properties": {
                "question": {
                    "type": "string",
                    "description": "A short question in words that a paper would use.",
                }
            },
            "required": ["question"],
            "additionalProperties": False,
        },
    },
}
NO_SEARCH_LEFT = "No search is left. Answer from the passages you have."
MAX_QUERY_CHARS = 400
"""Of a model's question; what is beyond is cut off."""
_BAD_QUESTION = "Give `question` as text."


class SearchTool:
    """For one run, in one task."""

    def __init__(self, searcher: Searcher, budget: Budget, notebook: Notebook, emit: Emit) -> None:
        self._searcher, self._budget = searcher, budget
        self._notebook, self._emit = notebook, emit
        self.steps: list[StepOut] = []
        self.refused_search = False
        """Whether the model asked for a search when none was left."""

    async def search(self, question: str, asked_by: AskedBy) -> Observation:
        """Raises what `Searcher.search` does."""
        self._begin(question, asked_by)
        self._budget.searches += 1
        start = time.perf_counter()
        observation = self._notebook.add(question, await self._searcher.search(question))
        ms = (time.perf_counter() - start) * 1e3
        self._end(question, asked_by, observation, ms=ms)
        return observation

    async def answer(self, call: ToolCall) -> ToolMessage:
        """What the model gets for its call; its own mistakes are told to it. Raises
        BackendUnavailable."""
        question = call["args"].get("question")
        if call["name"] != NAME:
            return error(call, f"There is no tool but {NAME}.")
        question = _query(question) if isinstance(question, str) else ""
        if not self._searcher.takes(question):
            return error(call, _BAD_QUESTION)
        if known := self._notebook.known(question):
            self._begin(question, "model")
            self._end(question, "model", known, ms=None)
            return result(call, known, repeated=True)
        if not self._budget.searches_left:
            self.refused_search = True
            return error(call, NO_SEARCH_LEFT)
        try:
            return result(call, await self.search(question, "model"))
        except FieldErrors:
            return error(call, _BAD_QUESTION)

    def _begin(self, question: str, asked_by: AskedBy) -> None:
        step = StepEvent(
            number=len(self.steps) + 1, query=_shown(question, asked_by), asked_by=asked_by
        )
        self._emit("step", step)

    def _end(
        self, question: str, asked_by: AskedBy, observation: Observation, *, ms: float | None
    ) -> None:
        """`ms`: None where the same had been asked before."""
        step = StepOut(
            number=len(self.steps) + 1,
            query=_shown(question, asked_by),
            asked_by=asked_by,
            hits=len(observation.numbers),
            new=0 if ms is None else len(observation.new),
            ms=round(ms or 0.0, 2),
            repeated=ms is None,
            note=observation.note,
        )
        self.steps.append(step)
        passages = tuple(
            SeenPassage(passage_id=source.passage_id, paper_id=source.paper_id)
            for source in observation.seen.sources
        )
        self._emit("observation", ObservationEvent(step=step, passages=passages))


def _query(written: str) -> str:
    """A model's question on one line, without anything invisible."""
    return " ".join(clean(written[: 4 * MAX_QUERY_CHARS]).text.split())[:MAX_QUERY_CHARS].strip()


def _shown(question: str, asked_by: AskedBy) -> str:
    """Callers get their own question as it was, and a model's without what renderers act on."""
    return inert(question) if asked_by == "model" else question


def result(call: ToolCall, observation: Observation, *, repeated: bool = False) -> ToolMessage:
    """An observation as the message that answers `call`."""
    return ToolMessage(
        observation_text(observation, repeated=repeated),
        tool_call_id=call["id"] or "",
        artifact=observation,
    )


def error(call: ToolCall, what: str) -> ToolMessage:
    return ToolMessage(what, tool_call_id=call["id"] or "", status="error")
