"""Answers out of sections keep their lines: lists stay lists, code stays code, rows say less."""

from __future__ import annotations

from typing import Literal

import pytest
from langchain_core.messages import HumanMessage, ToolMessage

from askem.answering.models import Seen, Source
from askem.http.answers import PassageOut
from askem.text.analysis import question_terms
from askem_agent.composing import MARK, Composed, compose
from askem_agent.extractive_chat import ExtractiveChat
from askem_agent.notebook import Found, Notebook, Observation

STEPS = """Kiln runbook > Cold start

1. Open the flue, so that gas can leave:

   ```
   kilnctl flue open --all
   echo ${rows[1]}
   ```
2. Light the pilot."""
CODES = """Kiln codes > Heat

| Code | Meaning |
|---|---|
| KX-11 | Door is open |
| KX-12 | Gas pressure is too low |"""
ANSWER = """1. Open the flue, so that gas can leave: [1]
   ```
   kilnctl flue open --all
   echo ${rows[1]}
   ```
   [1]
2. Light the pilot [1]."""


def notebook(question: str, text: str) -> tuple[Notebook, Observation]:
    source = Source("page#s", "page", text, 2.0, 0.4)
    doc = PassageOut.model_construct(passage_id="page#s", text=text)
    idf = dict.fromkeys(question_terms(question), 2.0)
    book = Notebook()
    found = Found(Seen(question, (source,), "proximity", idf), (doc,))
    return book, book.add(question, found)


def answered(question: str, text: str) -> Composed:
    book, observation = notebook(question, text)
    result = ToolMessage("", tool_call_id="1", artifact=observation)
    return compose(str(ExtractiveChat().invoke([HumanMessage(question), result]).text), book)


def test_steps_and_their_code_keep_their_lines() -> None:
    composed = answered("How do I do a cold start of the kiln?", STEPS)
    assert composed.text == ANSWER
    assert [s.verdict for s in composed.sentences] == ["found in source"] * 3
    assert [s.citations[0].quote in STEPS for s in composed.sentences] == [True] * 3


def test_a_row_is_shown_and_cited_alone() -> None:
    composed = answered("What is KX-12?", CODES)
    assert composed.text == "KX-12, Gas pressure is too low [1]"
    (citation,) = composed.sentences[0].citations
    assert citation.quote == "| KX-12 | Gas pressure is too low |"


@pytest.mark.parametrize(
    ("unsupported", "expected"),
    [("drop", ""), ("mark", f"```\nrm -r everything\n```\n{MARK}")],
)
def test_code_that_is_not_in_its_source_is_no_answer(
    unsupported: Literal["drop", "mark"], expected: str
) -> None:
    book, _ = notebook("How do I start?", STEPS)
    written = "```\nrm -r everything\n```\n[1]"
    assert compose(written, book, unsupported=unsupported).text == expected
