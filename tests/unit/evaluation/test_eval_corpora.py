"""Suites over several kinds of files and several golden sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pydantic import ValidationError

from askem.errors import InvalidInput
from askem.evaluation.cli import evaluate
from askem.evaluation.config import CorpusPart, Questions, RunConfig
from askem.evaluation.corpora import NO_PATH, preprocessor_of, read_corpus
from askem.evaluation.gold import TORN, MissingGold
from askem.evaluation.sets import read_beir, read_golden
from askem.text.sections import SectionPreprocessor

PAGE = "# Stalls\n\n## First steps\n\nLook at the queue.\n\nCall the desk.\n"


def handbook(folder: Path) -> Path:
    pages = folder / "handbook"
    (pages / "runbooks").mkdir(parents=True)
    (pages / "index.md").write_text("# Index\n\nWhat stands where.\n", encoding="utf-8")
    (pages / "runbooks" / "stall.md").write_text(PAGE, encoding="utf-8")
    return pages


def run(folder: Path, *more: str) -> Result:
    where = ["--results", str(folder / "results"), "--cache", str(folder / "cache")]
    return CliRunner().invoke(evaluate, ["run", str(folder / "suite.yaml"), *where, *more])


def test_a_handbook_is_taken_whole_under_its_folders_name(tmp_path: Path) -> None:
    handbook(tmp_path)
    part = CorpusPart(folder=Path("handbook"), doc_type="section")
    (batch,) = read_corpus([part], tmp_path, RunConfig(name="default", label="d"))
    assert batch.preprocessor_id == "markdown-v1"
    found = [(source.key.paper_id, source.topics) for source in batch.sources]
    assert found == [("index", ("handbook",)), ("runbooks.stall", ("handbook",))]


def test_without_heading_path_the_body_alone_is_left(tmp_path: Path) -> None:
    handbook(tmp_path)
    part = CorpusPart(folder=Path("handbook"), doc_type="section")
    config = RunConfig(name="no-path", label="n", heading_path=False)
    (batch,) = read_corpus([part], tmp_path, config)
    assert batch.preprocessor_id == NO_PATH
    made = preprocessor_of(NO_PATH)
    assert isinstance(made, SectionPreprocessor)
    sections = made.sections(PAGE, "stall")
    assert [s.text for s in sections] == ["Look at the queue.\nCall the desk."]
    usual = preprocessor_of("markdown-v1")
    assert isinstance(usual, SectionPreprocessor)
    assert [s.anchor for s in sections] == [s.anchor for s in usual.sections(PAGE, "stall")]


def test_golden_sets_are_joined_and_ids_stay_unique(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(
            f"questions: [{{id: {name}, question: q, unanswerable: true}}]", encoding="utf-8"
        )
    paths = [tmp_path / "one.yaml", tmp_path / "two.yaml"]
    joined = read_golden(paths)
    assert (joined.name, [q.id for q in joined.questions]) == ("one+two", ["one", "two"])
    with pytest.raises(InvalidInput, match="'one' is there twice"):
        read_golden([paths[0], paths[0]])


def test_quotes_that_a_preprocessor_tears_count_as_never_found(folder: Path) -> None:
    suite = folder / "suite.yaml"
    # With line breaks alone, `paragraphs-v1` makes a passage a line.
    (folder / "papers/masks.txt").write_text(
        "Surgical masks filtered\nninety percent of the droplets.", encoding="utf-8"
    )
    assert isinstance(run(folder).exception, MissingGold)
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace("encoder: hash}", "encoder: hash, tears: true}"))
    ran = run(folder)
    assert ran.exit_code == 0, ran.exception
    found = json.loads((folder / "results/small/default.json").read_text(encoding="utf-8"))
    assert found["measures"]["R@100"] == [0.0, 1.0]
    asked = (folder / "cache/runs/small/default/questions.jsonl").read_text(encoding="utf-8")
    assert TORN in asked


def test_qrels_that_name_files_become_pages(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"_id": "1", "text": "It stalls."}\n')
    (tmp_path / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\n1\tpages/runbooks/stall.md\t1\n", encoding="utf-8"
    )
    how = Questions(beir=tmp_path, unit="paper", pages_under="pages")
    (question,) = read_beir(tmp_path, how).questions
    assert question.gold[0].paper_id == "runbooks.stall"


def test_files_are_papers() -> None:
    with pytest.raises(ValidationError, match="unit: paper"):
        Questions(beir=Path("x"), pages_under="pages")
