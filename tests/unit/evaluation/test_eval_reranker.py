"""Rows with a reranker: run where one is configured, left out of the table where none was."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from askem.errors import ConfigurationError
from askem.evaluation.cli import evaluate
from askem.evaluation.config import RunConfig
from askem.evaluation.indexing import Index
from askem.evaluation.systems import make_search
from askem.models import Filters, Passage
from askem.stores.embedded import EmbeddedStore
from askem.testing.contract import make_source
from askem.testing.fakes import FakeEncoder, FakeReranker

ROW = "  - {name: reranker, label: reranked, rerank_top_k: 5, option: true, encoder: hash}\n"


@pytest.fixture(autouse=True)
def _none_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASKEM_RERANKER", raising=False)


@pytest.fixture
def suite(folder: Path) -> Path:
    path = folder / "suite.yaml"
    path.write_text(path.read_text(encoding="utf-8") + ROW, encoding="utf-8")
    return path


def run(suite: Path, *more: str) -> object:
    where = ["--results", str(suite.parent / "results"), "--cache", str(suite.parent / "cache")]
    return CliRunner().invoke(evaluate, ["run", str(suite), *where, *more])


def test_the_row_is_left_out_and_the_table_does_without(suite: Path) -> None:
    done = run(suite)
    assert "small/reranker: left out, ASKEM_RERANKER is not set" in done.output  # type: ignore[attr-defined]
    results = suite.parent / "results"
    assert not (results / "small/reranker.json").exists()
    arguments = ["tables", str(suite), "--results", str(results), "--out", str(suite.parent)]
    shown = CliRunner().invoke(evaluate, arguments)
    assert shown.exit_code == 0, shown.output
    assert "reranked" not in (suite.parent / "small.md").read_text(encoding="utf-8")


def test_the_row_by_name_says_what_is_missing(suite: Path) -> None:
    done = run(suite, "--only", "reranker")
    assert isinstance(done.exception, ConfigurationError)  # type: ignore[attr-defined]
    assert "ASKEM_RERANKER" in str(done.exception)  # type: ignore[attr-defined]


def test_a_missing_row_without_a_reranker_is_still_an_error(suite: Path) -> None:
    run(suite)
    (suite.parent / "results/small/bm25.json").unlink()
    arguments = ["tables", str(suite), "--results", str(suite.parent / "results")]
    shown = CliRunner().invoke(evaluate, [*arguments, "--out", str(suite.parent)])
    assert shown.exit_code == 1
    assert "bm25.json is missing" in shown.output


def test_the_reranker_decides_the_order(tmp_path: Path) -> None:
    encoder = FakeEncoder()
    texts = ["Droplets and masks and many other words.", "Masks, droplets."]
    with EmbeddedStore.open(tmp_path, encoder) as store:
        store.writer.replace([make_source("a", texts, encoder)])
        index = Index(store, encoder, "", tmp_path, FakeReranker())
        config = RunConfig(name="r", label="r", rerank_top_k=5, encoder="hash")
        hits = make_search(index, config)("masks droplets", Filters()).hits
        passages: list[Passage] = [hit.passage for hit in hits]
        expected = FakeReranker().rerank("masks droplets", passages)
        assert [hit.rerank_score for hit in hits] == sorted(expected, reverse=True)
