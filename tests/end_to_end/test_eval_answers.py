"""`askem eval answers` with a server of its own: started over the suite's index, and gone after."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

from askem.evaluation.answers.serving import NotServed, served
from askem.evaluation.cli import evaluate
from askem.http.client import AskemClient, ClientError

PAPER = "Surgical masks filtered ninety percent of the droplets in the laboratory of Brindle."
SUITE = """
name: small
title: A small one
corpus: [{folder: papers, preprocessor: paragraphs-v1}]
questions: {golden: golden.yaml}
runs: [{name: default, label: both legs}]
"""
GOLDEN = """
questions:
  - id: q1
    question: Which share of the droplets did surgical masks filter?
    gold: [{paper_id: masks, quote: filtered ninety percent of the droplets}]
    answer: Ninety percent.
  - id: q2
    question: Who painted the ceiling?
    unanswerable: true
"""


def test_a_suite_is_answered_and_its_table_has_both_halves(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/masks.txt").write_text(PAPER, encoding="utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    (tmp_path / "golden.yaml").write_text(GOLDEN, encoding="utf-8")
    suite, results = str(tmp_path / "suite.yaml"), ["--results", str(tmp_path / "results")]
    cache = ["--cache", str(tmp_path / "cache")]
    for arguments in (
        ["run", suite, *results, *cache],
        ["answers", suite, *results, *cache],
        ["tables", suite, *results, "--out", str(tmp_path / "tables")],
    ):
        ran = CliRunner().invoke(evaluate, arguments)
        assert ran.exit_code == 0, (ran.output, ran.exception)
    found = json.loads((tmp_path / "results/small/answers-extractive.json").read_text("utf-8"))
    assert found["unanswerable"]["confidence"] == [0]
    assert found["manifest"]["corpus"]["passages"] == 1
    assert "## Answers" in (tmp_path / "tables/small.md").read_text(encoding="utf-8")


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    with (
        pytest.raises(NotServed, match="no-such-encoder"),
        served(tmp_path / "index", "no-such-encoder"),
    ):
        pass


def serve_until_killed(index: Path, seen: list[tuple[str, str]]) -> None:
    with served(index, "minilm-int8") as (url, key), AskemClient(url, key) as client:
        assert client.topics() == []
        seen.append((url, key))
        os.kill(os.getpid(), signal.SIGTERM)


def test_the_server_ends_with_the_run_even_when_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    seen: list[tuple[str, str]] = []
    with pytest.raises(SystemExit):
        serve_until_killed(tmp_path / "index", seen)
    ((url, key),) = seen
    with AskemClient(url, key, timeout_s=5) as client, pytest.raises(ClientError):
        client.topics()
