"""`/react` as this harness reads it: the library knows no service, so the shapes are its own."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from askem.answering.models import Confidence, Reason, Verdict
from askem.http.answers import AnswerModel, PassageOut
from askem.http.client import BlockingClient
from askem.http.exchange import Call

TIMEOUT_S = 120.0
"""For a whole answer: more than a run takes at most by default."""


class Citation(AnswerModel):
    """The passage's text[start:end] is the quote."""

    passage_id: str
    quote: str
    start: int
    end: int


class Sentence(AnswerModel):
    text: str
    citations: tuple[Citation, ...]
    verdict: Verdict


class Answer(AnswerModel):
    """What is measured of an answer, and what a reader of the run wants to see."""

    answer: str
    used_docs: tuple[PassageOut, ...]
    sentences: tuple[Sentence, ...]
    refused: bool
    reason: Reason | None
    found_instead: tuple[PassageOut, ...]
    confidence: Confidence | None
    stopped: str | None
    steps: tuple[dict[str, Any], ...]
    usage: dict[str, Any]
    timings: dict[str, float]
    model: str

    @property
    def citations(self) -> tuple[Citation, ...]:
        return tuple(citation for sentence in self.sentences for citation in sentence.citations)

    @property
    def said(self) -> str:
        """What was answered, without markers; nothing in a refusal."""
        return "" if self.refused else " ".join(sentence.text for sentence in self.sentences)

    @property
    def score(self) -> float:
        """The best shown passage's, of the ranking in effect; 0 where nothing came back."""
        return max((doc.score for doc in (*self.used_docs, *self.found_instead)), default=0.0)


_ANSWER = TypeAdapter(Answer)


class ReactClient(BlockingClient):
    """Of the agent; one whole answer at a time."""

    def __init__(self, base_url: str, api_key: str) -> None:
        """Raises ConfigurationError for a key that cannot be one."""
        super().__init__(base_url, api_key, timeout_s=TIMEOUT_S)

    def react(self, question: str, model: str) -> Answer:
        """Raises ClientError. Nothing is retried."""
        body = json.dumps({"question": question, "model_name": model}).encode()
        return self._send(Call("POST", "/react", _ANSWER, body))
