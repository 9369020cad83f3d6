"""A small corpus, its questions and a suite over both; a hash as encoder, so that it is quick."""

from __future__ import annotations

from pathlib import Path

import pytest

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
