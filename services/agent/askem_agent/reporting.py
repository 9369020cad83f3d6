"""What a run made, as the caller gets it."""

from __future__ import annotations

import time

from askem.answering.models import CheckedSentence, Confidence, Reason, Repair
from askem.answering.picking import pick
from askem.answering.refusal import RIGHT, confidence
from askem.http.answers import RepairOut
from askem_agent.budget import Budget
from askem_agent.composing import Composed
from askem_agent.events import Emit
from askem_agent.notebook import Notebook
from askem_agent.settings import EXTRACTIVE
from askem_agent.tool import SearchTool
from askem_agent.wire import (
    CitationEvent,
    CitationOut,
    Limit,
    ReactResponse,
    SentenceOut,
    TokenEvent,
    UsageOut,
)

MAX_FOUND_INSTEAD = 3
BASIS = "{:.0%} of such answers, picked from papers, had the right words where it was measured"
UNMEASURED = "how often answers that a language model wrote are right was not measured"
REFUSALS: dict[Reason, str] = {
    "no content": "No answer: the question has no word that could be searched for.",
    "nothing found": "No answer: nothing in the corpus matches this question.",
    "not in the corpus": "No answer: nothing in the corpus is near enough to this question.",
    "no support": "No answer: the passages that were found do not carry one.",
}


class Report:
    """Collects what is told of a run; for one task."""

    def __init__(
        self,
        question: str,
        model: str,
        notebook: Notebook,
        search: SearchTool,
        budget: Budget,
        emit: Emit,
    ) -> None:
        self._question, self._notebook, self._search = question, notebook, search
        self._budget, self._emit = budget, emit
        self._start = time.perf_counter()
        self.model = model
        self.model_ms = self.check_ms = 0.0
        self.stopped: Limit | None = None

    def refused(self, reason: Reason, *, dropped: int = 0) -> ReactResponse:
        """`dropped`: sentences that were written and not found."""
        text = REFUSALS[reason]
        self._emit("token", TokenEvent(text=text))
        nearest = self._notebook.first_docs(MAX_FOUND_INSTEAD)
        response = self._response(text, reason=reason, dropped=dropped)
        return self._final(response.model_copy(update={"found_instead": nearest}))

    def answered(self, composed: Composed, sure: Confidence | None) -> ReactResponse:
        """The answer, sent sentence by sentence first. `sure`: None where it was not measured."""
        markers = {passage_id: number for number, passage_id in enumerate(composed.used, 1)}
        for index, (piece, sentence) in enumerate(
            zip(composed.pieces, composed.sentences, strict=True)
        ):
            self._emit("token", TokenEvent(text=piece))
            for citation in sentence.citations:
                event = CitationEvent(
                    passage_id=citation.passage_id,
                    quote=citation.quote,
                    start=citation.start,
                    end=citation.end,
                    sentence=index,
                    marker=markers[citation.passage_id],
                    paper_id=self._notebook.doc(citation.passage_id).paper_id,
                )
                self._emit("citation", event)
        response = self._response(composed.text, dropped=composed.dropped)
        update = {
            "used_docs": tuple(map(self._notebook.doc, composed.used)),
            "sentences": tuple(map(_sentence, composed.sentences)),
            "confidence": sure,
            "confidence_basis": BASIS.format(RIGHT[sure]) if sure else UNMEASURED,
        }
        return self._final(response.model_copy(update=update))

    def confidence(self) -> Confidence | None:
        """Takes some milliseconds. None for what a language model wrote: only answers that were
        picked have been measured."""
        if self.model != EXTRACTIVE:
            return None
        seen = self._notebook.seen
        return confidence(seen[0], pick(self._question, seen))

    def _final(self, response: ReactResponse) -> ReactResponse:
        self._emit("final", response)
        return response

    def _response(self, text: str, *, reason: Reason | None = None, dropped: int) -> ReactResponse:
        return ReactResponse(
            answer=text,
            used_docs=(),
            sentences=(),
            refused=reason is not None,
            reason=reason,
            found_instead=(),
            confidence=None,
            confidence_basis=None,
            stopped=self.stopped,
            dropped=dropped,
            repairs=tuple(map(_repair, self._notebook.repairs)),
            steps=tuple(self._search.steps),
            usage=self._usage(),
            timings=self._timings(),
            model=self.model,
        )

    def _usage(self) -> UsageOut:
        used = self._budget.uses_tokens
        return UsageOut(
            model_calls=self._budget.model_calls,
            searches=self._budget.searches,
            input_tokens=self._budget.input_tokens if used else None,
            output_tokens=self._budget.output_tokens if used else None,
            cost=self._budget.cost,
        )

    def _timings(self) -> dict[str, float]:
        spent = {
            "search": sum(step.ms for step in self._search.steps),
            "model": self.model_ms,
            "check": self.check_ms,
            "total": (time.perf_counter() - self._start) * 1e3,
        }
        return {kind: round(ms, 2) for kind, ms in spent.items()}


def _sentence(checked: CheckedSentence) -> SentenceOut:
    return SentenceOut(
        text=checked.text,
        citations=tuple(
            CitationOut(passage_id=c.passage_id, quote=c.quote, start=c.start, end=c.end)
            for c in checked.citations
        ),
        verdict=checked.verdict,
        missing=checked.missing,
    )


def _repair(repair: Repair) -> RepairOut:
    return RepairOut(word=repair.word, read_as=repair.read_as)
