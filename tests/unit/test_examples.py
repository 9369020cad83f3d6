"""The example corpus and its labelled questions are what their READMEs say."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from askem.ingestion.files import list_sources
from askem.models import DocType
from askem.text.decoding import decode
from askem.text.preprocessing import get_preprocessor

ROOT = Path(__file__).parents[2]
GOLDEN = yaml.safe_load((ROOT / "evals/golden/papers.yaml").read_text(encoding="utf-8"))
QUESTIONS: list[dict[str, Any]] = GOLDEN["questions"]
ANSWERABLE = [q for q in QUESTIONS if not q.get("unanswerable")]
UNANSWERABLE = [q for q in QUESTIONS if q.get("unanswerable")]
MADE_BY: dict[DocType, tuple[str, str]] = {
    "paragraph": ("papers", "papers-v1"),
    "figure": ("figures", "figures-v1"),
}


def tokens(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


@cache
def passages(doc_type: DocType) -> dict[str, list[str]]:
    """Paper id to its passages as token runs, made as an operator's ingest would."""
    folder, preprocessor = MADE_BY[doc_type]
    made: dict[str, list[str]] = {}
    for topic in sorted((ROOT / "examples" / folder).iterdir()):
        listing = list_sources(topic, doc_type)
        assert not listing.passed_over
        for source in listing.sources:
            assert source.problem is None
            text = decode(source.path.read_bytes()).text
            found = [f" {tokens(passage)} " for passage in get_preprocessor(preprocessor)(text)]
            made.setdefault(source.key.paper_id, []).extend(found)
    return made


def test_there_is_enough_of_everything() -> None:
    assert len(passages("paragraph")) >= 15
    assert set(passages("figure")) <= set(passages("paragraph"))
    assert len(ANSWERABLE) >= 45
    assert len(UNANSWERABLE) >= 15
    assert sum(q["near_miss"] for q in UNANSWERABLE) >= 8
    kinds = Counter(q["kind"] for q in ANSWERABLE)
    wanted = {"identifier": 12, "semantic": 14, "factual": 8, "procedural": 5, "multi-hop": 4}
    assert {kind: kinds[kind] >= least for kind, least in wanted.items()} == dict.fromkeys(
        wanted, True
    )


def test_ids_are_unique() -> None:
    ids = [question["id"] for question in QUESTIONS]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda q: q["id"])
def test_each_gold_quote_stands_in_one_passage_of_its_paper(question: dict[str, Any]) -> None:
    assert question["gold"]
    assert question["answer"]
    for gold in question["gold"]:
        quote = f" {tokens(gold['quote'])} "
        held = [quote in text for text in passages(gold["doc_type"])[gold["paper_id"]]]
        assert sum(held) == 1, gold


@pytest.mark.parametrize("question", UNANSWERABLE, ids=lambda q: q["id"])
def test_what_cannot_be_answered_says_why(question: dict[str, Any]) -> None:
    assert question["why"]
    assert "gold" not in question


def test_several_golds_say_whether_one_is_enough() -> None:
    multi_hop = [q for q in ANSWERABLE if q["kind"] == "multi-hop"]
    assert all(len(q["gold"]) >= 2 and q["any"] is False for q in multi_hop)
    assert all(isinstance(q["any"], bool) for q in ANSWERABLE)
