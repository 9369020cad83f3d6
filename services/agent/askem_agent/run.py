"""From a question to an answer that was checked, or to a refusal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from langchain_core.language_models import BaseChatModel

from askem.answering.models import Confidence
from askem.answering.parts import parts_of
from askem.answering.refusal import Thresholds, reason_to_refuse
from askem.errors import BackendUnavailable, Overloaded
from askem.http.client import AsyncAskemClient
from askem.http.fields import FieldErrors
from askem_agent.budget import Budget, Limits, Rates
from askem_agent.composing import Composed, compose
from askem_agent.events import Emit, ignore
from askem_agent.extractive_chat import ExtractiveChat
from askem_agent.loop import Conversation
from askem_agent.models import untraced
from askem_agent.notebook import Notebook, Observation
from askem_agent.reporting import Report
from askem_agent.searching import Searcher
from askem_agent.settings import EXTRACTIVE
from askem_agent.tool import SearchTool
from askem_agent.wire import ReactRequest, ReactResponse
from askem_agent.workers import ShouldStop, Workers


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A model that callers may choose."""

    chat: BaseChatModel
    rates: Rates | None
    """None for a model that uses nothing."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What holds for every run."""

    limits: Limits
    thresholds: Thresholds = field(default_factory=Thresholds)
    unsupported: Literal["drop", "mark"] = "drop"
    topic_aliases: Mapping[str, str] = field(default_factory=dict)
    """Other name to canonical topic, in lower case."""


class Agent:
    """Answers questions, many at a time."""

    def __init__(
        self,
        *,
        models: Mapping[str, ChatModel],
        default_model: str,
        retrievers: Mapping[str, AsyncAskemClient],
        policy: Policy,
        workers: Workers | None = None,
    ) -> None:
        """`models` by name, `extractive` among them; `retrievers` by endpoint, the default one
        first; `workers`: for the checks, own ones without."""
        self._models, self._default = models, default_model
        self._retrievers, self._policy = retrievers, policy
        self._workers = workers or Workers()

    @property
    def model_names(self) -> tuple[str, ...]:
        return tuple(sorted(self._models))

    def check(self, request: ReactRequest) -> None:
        """Raises FieldErrors for a model or an endpoint that is not configured."""
        self._model(request)
        self._retriever(request)

    async def answer(self, request: ReactRequest, emit: Emit = ignore) -> ReactResponse:
        """Raises FieldErrors, BackendUnavailable for the retriever, ModelError."""
        name, model = self._model(request)
        retriever = self._retriever(request)
        budget = Budget(self._policy.limits, model.rates)
        notebook = Notebook()
        searcher = Searcher(retriever, request, self._policy.topic_aliases)
        search = SearchTool(searcher, budget, notebook, emit)
        report = Report(request.question, name, notebook, search, budget, emit)
        found = [await _question_search(search, request.question, budget)]
        reason = reason_to_refuse(found[0].seen, self._policy.thresholds)
        if reason == "not in the corpus":
            # Two questions in one are far from every passage, though each may be near to one.
            found += await self._parts(request.question, search, budget)
            reason = None if len(found) > 1 else reason
        if reason:
            return report.refused(reason)
        conversation = Conversation(model.chat, search, budget)
        conversation.begin(request.question, found)
        # LangChain would send what is said to LangSmith, were the environment to ask for it.
        with untraced():
            draft = await conversation.talk()
            text = draft.text
            if text is None:
                report.model = EXTRACTIVE
                text = await self._picked(conversation, budget)
        report.model_ms, report.stopped = conversation.model_ms, draft.stopped
        start = time.perf_counter()
        composed, sure = await self._workers.run(
            lambda should_stop: self._check(text, notebook, report, should_stop),
            until=budget.deadline,
        )
        report.check_ms = (time.perf_counter() - start) * 1e3
        report.stopped = report.stopped or composed.stopped
        if not composed.supported:
            return report.refused("no support", dropped=composed.dropped)
        return report.answered(composed, sure)

    async def _parts(self, question: str, search: SearchTool, budget: Budget) -> list[Observation]:
        """Searches for the questions that one is made of; those that can be answered from."""
        parts = parts_of(question)[: budget.searches_left]
        found = [await _question_search(search, part, budget) for part in parts]
        return [o for o in found if not reason_to_refuse(o.seen, self._policy.thresholds)]

    def _check(
        self, text: str, notebook: Notebook, report: Report, should_stop: ShouldStop
    ) -> tuple[Composed, Confidence | None]:
        """Blocks: for a thread. Raises Overloaded where there was no time to check anything."""
        if should_stop():
            raise Overloaded("workers", "the time was up before the answer could be checked")
        composed = compose(
            text, notebook, unsupported=self._policy.unsupported, should_stop=should_stop
        )
        return composed, report.confidence()

    async def _picked(self, conversation: Conversation, budget: Budget) -> str:
        """An answer without the model: sentences of the passages it was shown. Raises
        BackendUnavailable where the time does not suffice."""
        picker = ExtractiveChat(self._workers)
        try:
            async with asyncio.timeout_at(budget.deadline):
                return str((await picker.ainvoke(conversation.messages)).text)
        except TimeoutError:
            raise Overloaded("workers", "no sentence was picked in time") from None

    def _model(self, request: ReactRequest) -> tuple[str, ChatModel]:
        field = "model_name" if request.model_name else "openai_model_name"
        name = request.model_name or request.openai_model_name or self._default
        if name not in self._models:
            raise FieldErrors([(field, f"must be one of {', '.join(self.model_names)}")])
        return name, self._models[name]

    def _retriever(self, request: ReactRequest) -> AsyncAskemClient:
        endpoint = request.retriever_endpoint
        if endpoint is None:
            return next(iter(self._retrievers.values()))
        if endpoint not in self._retrievers:
            raise FieldErrors([("retriever_endpoint", "is none of the configured endpoints")])
        return self._retrievers[endpoint]


async def _question_search(search: SearchTool, question: str, budget: Budget) -> Observation:
    try:
        async with asyncio.timeout_at(budget.deadline) as deadline:
            return await search.search(question, "question")
    except TimeoutError:
        if not deadline.expired():
            raise
        raise BackendUnavailable("retriever", "no answer before the run's time was up") from None
