"""A small corpus, its questions and a suite over both; a hash as encoder, so that it is quick."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from askem.testing.loopback import LoopbackServer

PAPERS = {
    "masks": "Masks of cloth filtered half of the droplets.\n\n"
    "Surgical masks filtered ninety percent of the droplets.",
    "windows": "Open windows lowered carbon dioxide in classrooms.\n\n"
    "Closed windows kept the air stale.",
}
GOLDEN = """
questions:
  - id: q1
    question: How much do surgical masks filter?
    kind: factual
    gold: [{paper_id: masks, quote: filtered ninety percent of the droplets}]
  - id: q2
    question: What lowered carbon dioxide in classrooms?
    kind: semantic
    gold: [{passage_id: "windows#p0"}]
  - id: q3
    question: Who painted the ceiling?
    unanswerable: true
"""
SUITE = """
name: small
title: A small one
corpus:
  - folder: papers
    preprocessor: paragraphs-v1
questions: {golden: golden.yaml}
runs:
  - {name: default, label: both legs, encoder: hash}
  - {name: bm25, label: BM25 alone, legs: [sparse], encoder: hash}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Holds papers/, golden.yaml and suite.yaml."""
    (tmp_path / "papers").mkdir()
    for paper_id, text in PAPERS.items():
        (tmp_path / "papers" / f"{paper_id}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "golden.yaml").write_text(GOLDEN, encoding="utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    return tmp_path


SNAPSHOT = {"papers": 2, "passages": 4, "digest": "d", "encoder_id": "fake-256"}


class FakeAskem(LoopbackServer):
    """A server of /react, /search and /papers over PAPERS; each can be told to do otherwise."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.answers: dict[str, dict[str, Any]] = {}
        """By question; all others are refused."""
        self.model = "extractive"
        self.failing: set[str] = set()
        """Questions that get 503."""
        self.snapshot: dict[str, Any] | None = dict(SNAPSHOT)
        self.asked: list[str] = []

    @property
    def base_url(self) -> str:
        return self.url.removesuffix("/v1")

    def respond(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if path == "/react":
            self.asked.append(body["question"])
            if body["question"] in self.failing:
                return 503, {"title": "busy", "status": 503, "request_id": "r"}
            answer = refusal() | self.answers.get(body["question"], {})
            return 200, answer | {"model": self.model}
        if path == "/search":
            return 200, search_response(self.snapshot)
        paper_id = path.split("?")[0].rpartition("/")[2]
        if paper_id not in PAPERS:
            return 404, {"title": "no such paper", "status": 404, "request_id": "r"}
        passages = [passage(f"{paper_id}#p{i}") for i in range(2)]
        return 200, {
            "paper_id": paper_id,
            "topics": ["t"],
            "paragraphs": 2,
            "figures": 0,
            "sections": 0,
            "preprocessor_ids": ["paragraphs-v1"],
            "updated_at": "2026-01-01T00:00:00Z",
            "passages": passages,
        }


class _Handler(BaseHTTPRequestHandler):
    owner: FakeAskem

    def do_GET(self) -> None:
        self._send(*self.owner.respond("GET", self.path, {}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._send(*self.owner.respond("POST", self.path, body))

    def _send(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Tests look at `asked`."""


def passage(passage_id: str, score: float = 2.0) -> dict[str, Any]:
    paper_id, _, place = passage_id.rpartition("#p")
    return {
        "paper_id": paper_id,
        "doc_type": "paragraph",
        "text": PAPERS[paper_id].split("\n\n")[int(place)],
        "cosmos_object_id": None,
        "paragraph_terms": [],
        "passage_id": passage_id,
        "topics": ["t"],
        "preprocessor_id": "paragraphs-v1",
        "order": int(place),
        "distance": 0.3,
        "score": score,
    }


def refusal() -> dict[str, Any]:
    return {
        "answer": "Nothing was found.",
        "used_docs": [],
        "sentences": [],
        "refused": True,
        "reason": "not in the corpus",
        "found_instead": [],
        "confidence": None,
        "stopped": None,
        "steps": [{"number": 1, "query": "q", "ms": 3.5}],
        "usage": {"searches": 1},
        "timings": {"total": 4.0},
    }


def answer(passage_id: str, quote: str, **changes: Any) -> dict[str, Any]:
    """An answer of one sentence, which quotes one passage."""
    found = passage(passage_id)
    start = found["text"].index(quote)
    citation = {"passage_id": passage_id, "quote": quote}
    citation |= {"start": start, "end": start + len(quote)}
    sentence = {"text": quote, "citations": [citation], "verdict": "found in source"}
    return {
        "answer": f"{quote} [1]",
        "used_docs": [found],
        "sentences": [sentence],
        "refused": False,
        "reason": None,
        "confidence": "high",
        **changes,
    }


def search_response(snapshot: dict[str, Any] | None) -> dict[str, Any]:
    filters = {"topic": None, "doc_type": None, "preprocessor_id": None}
    steering = {"move_to": None, "move_away_from": None}
    return {
        "hits": [],
        "mode": "hybrid",
        "ranking": "proximity",
        "filters": filters | {"paragraph_terms": [], "paper_ids": []},
        "max_distance": None,
        "steering": steering | {"move_to_weight": 0.0, "move_away_from_weight": 0.0},
        "screened": 0,
        "terms": [],
        "unknown_terms": [],
        "score_scale": 1.0,
        "timings_ms": {},
        "snapshot": snapshot,
    }


@pytest.fixture
def server() -> Iterator[FakeAskem]:
    """Answers the questions of GOLDEN rightly, and refuses the one without an answer."""
    with FakeAskem() as fake:
        fake.answers["How much do surgical masks filter?"] = answer(
            "masks#p1", "Surgical masks filtered ninety percent of the droplets."
        )
        fake.answers["What lowered carbon dioxide in classrooms?"] = answer(
            "windows#p0", "Open windows lowered carbon dioxide in classrooms.", confidence="low"
        )
        yield fake
