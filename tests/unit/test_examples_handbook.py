"""The example handbook and its labelled questions are what their READMEs say."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from askem.ingestion.pages import list_pages
from askem.text.decoding import decode
from askem.text.markdown import sections_of

ROOT = Path(__file__).parents[2]
GOLDEN = yaml.safe_load((ROOT / "evals/golden/handbook.yaml").read_text(encoding="utf-8"))
QUESTIONS: list[dict[str, Any]] = GOLDEN["questions"]
ANSWERABLE = [q for q in QUESTIONS if not q.get("unanswerable")]
UNANSWERABLE = [q for q in QUESTIONS if q.get("unanswerable")]


def tokens(text: str) -> str:
    return " " + " ".join(re.findall(r"\w+", text.lower())) + " "


@cache
def passages() -> dict[str, str]:
    """Passage id to its text as a token run, made as an operator's ingest would."""
    listing = list_pages(ROOT / "examples/handbook")
    assert not listing.passed_over
    assert not [source.problem for source in listing.sources if source.problem]
    return {
        source.key.passage_id(order, section.anchor): tokens(section.text)
        for source in listing.sources
        for order, section in enumerate(sections_of(decode(source.path.read_bytes()).text))
    }


def test_there_is_enough_of_everything() -> None:
    assert len({name.partition("#")[0] for name in passages()}) >= 12
    assert len(passages()) <= 120  # all are encoded at the first `make run`
    kinds = Counter(q["kind"] for q in ANSWERABLE)
    wanted = {"identifier": 10, "semantic": 10, "factual": 10, "procedural": 8, "multi-hop": 5}
    assert all(kinds[kind] >= least for kind, least in wanted.items())
    assert len(ANSWERABLE) >= 40
    assert len(UNANSWERABLE) >= 12
    assert sum(q["near_miss"] for q in UNANSWERABLE) >= 8
    assert len({q["id"] for q in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda q: q["id"])
def test_each_gold_quote_stands_in_the_passage_named_and_in_no_other(
    question: dict[str, Any],
) -> None:
    assert question["gold"]
    assert question["answer"]
    assert isinstance(question["any"], bool)
    assert question["any"] or len(question["gold"]) >= 2
    for gold in question["gold"]:
        quote = tokens(gold["quote"])
        held = [name for name, text in passages().items() if quote in text]
        assert held == [gold["passage_id"]]
        assert gold["passage_id"].startswith(f"{gold['paper_id']}#")


@pytest.mark.parametrize("question", UNANSWERABLE, ids=lambda q: q["id"])
def test_what_cannot_be_answered_says_why(question: dict[str, Any]) -> None:
    assert question["why"]
    assert "gold" not in question
