"""`askem eval answers` against a scripted server: what it writes, and each guard, tripped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from askem.errors import AskemError
from askem.evaluation.answers.asking import BrokenCitation, CorpusChanged, NotAnswered, WrongModel
from askem.evaluation.cli import evaluate
from askem.evaluation.gold import MissingGold

KEY = "test-key-0123456789"


def answers(folder: Path, server: Any, *more: str) -> Result:
    options = ["--results", str(folder / "results"), "--cache", str(folder / "cache")]
    options += ["--url", server.base_url, "--api-key", KEY]
    return CliRunner().invoke(evaluate, ["answers", str(folder / "suite.yaml"), *options, *more])


def call(*arguments: str) -> Result:
    return CliRunner().invoke(evaluate, list(arguments))


def with_searches(folder: Path, server: Any) -> Result:
    """Runs the searches, and makes the server serve the same corpus."""
    where = ["--results", str(folder / "results")]
    suite = str(folder / "suite.yaml")
    assert call("run", suite, *where, "--cache", str(folder / "cache")).exit_code == 0
    default = json.loads((folder / "results/small/default.json").read_text(encoding="utf-8"))
    server.snapshot["digest"] = default["manifest"]["corpus"]["digest"]
    assert answers(folder, server).exit_code == 0
    return call("tables", suite, *where, "--out", str(folder / "tables"))


def result(folder: Path, name: str = "extractive") -> dict[str, Any]:
    path = folder / f"results/small/answers-{name}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_figures_go_into_the_result_file_and_texts_do_not(folder: Path, server: Any) -> None:
    ran = answers(folder, server)
    assert ran.exit_code == 0, ran.exception
    assert "in quote 1.0000" in ran.output
    assert "unanswerable refused: 1 of 1" in ran.output
    assert "latency: p50" in ran.output
    found = result(folder)
    assert found["measures"]["gold cited"] == [1.0, 1.0]
    assert found["measures"]["F1"] == [None, None]
    assert found["confidence"] == [3, 1]
    assert found["unanswerable"]["confidence"] == [0]
    assert found["manifest"]["corpus"] == {"papers": 2, "passages": 4, "digest": "d"}
    text = json.dumps(found)
    assert "droplets" not in text
    assert "ms" not in found["manifest"]


def test_what_was_said_is_kept_in_the_runs_folder(folder: Path, server: Any) -> None:
    answers(folder, server)
    run = folder / "cache/runs/small/answers-extractive"
    lines = (run / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    kept = json.loads(lines[0])
    assert kept["question"] == "How much do surgical masks filter?"
    assert kept["used_docs"] == ["masks#p1"]
    assert kept["sentences"][0]["verdict"] == "found in source"
    assert kept["steps"] == [{"number": 1, "query": "q"}]
    assert set(json.loads((run / "timings.json").read_text(encoding="utf-8"))) == {"q1", "q2", "q3"}


def test_a_repeat_gives_the_same_files(folder: Path, server: Any) -> None:
    def files() -> dict[str, bytes]:
        paths = [*(folder / "results").rglob("*"), *(folder / "cache").rglob("*.json*")]
        return {p.name: p.read_bytes() for p in paths if p.is_file() and p.name != "timings.json"}

    answers(folder, server)
    first = files()
    answers(folder, server, "--workers", "1")
    assert files() == first


@pytest.mark.parametrize("workers", ["1", "3"])
def test_an_outage_is_no_refusal(folder: Path, server: Any, workers: str) -> None:
    server.failing.add("Who painted the ceiling?")
    failed = answers(folder, server, "--workers", workers)
    assert isinstance(failed.exception, NotAnswered)
    assert "question q3" in str(failed.exception)
    assert "not counted as a refusal" in str(failed.exception)
    assert not (folder / "results").exists()


def test_after_a_failure_nothing_more_is_asked(folder: Path, server: Any) -> None:
    server.failing.add("How much do surgical masks filter?")
    answers(folder, server, "--workers", "1")
    assert server.asked == ["How much do surgical masks filter?"]


def test_another_model_than_asked_for_fails(folder: Path, server: Any) -> None:
    failed = answers(folder, server, "--model", "gpt-x")
    assert isinstance(failed.exception, WrongModel)
    assert "extractive answered where gpt-x was asked" in str(failed.exception)
    assert not (folder / "results").exists()


@pytest.mark.parametrize("change", [{"start": 1}, {"passage_id": "windows#p0"}])
def test_a_quote_that_does_not_stand_in_its_passage_fails(
    folder: Path, server: Any, change: dict[str, Any]
) -> None:
    said = server.answers["How much do surgical masks filter?"]
    said["sentences"][0]["citations"][0] |= change
    failed = answers(folder, server)
    assert isinstance(failed.exception, BrokenCitation)
    assert "question q1" in str(failed.exception)


def test_the_result_is_named_for_its_model(folder: Path, server: Any) -> None:
    server.model = "Org/Model X"
    assert answers(folder, server, "--model", "Org/Model X").exit_code == 0
    assert result(folder, "org-model-x")["config"]["model"] == "Org/Model X"


def test_gold_that_the_server_does_not_hold_fails(folder: Path, server: Any) -> None:
    path = folder / "golden.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("windows#p0", "walls#p0"))
    failed = answers(folder, server)
    assert isinstance(failed.exception, MissingGold)
    assert not server.asked


def test_a_corpus_that_changes_meanwhile_fails(
    folder: Path, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    respond = server.respond

    def changing(method: str, path: str, body: dict[str, Any]) -> Any:
        if path == "/react":
            server.snapshot = dict(server.snapshot, digest="another")
        return respond(method, path, body)

    monkeypatch.setattr(server, "respond", changing)
    assert isinstance(answers(folder, server).exception, CorpusChanged)


def test_a_degraded_server_is_not_measured(folder: Path, server: Any) -> None:
    server.snapshot = None
    assert "degraded" in str(answers(folder, server).exception)


def test_a_server_that_is_not_there(folder: Path) -> None:
    options = ["--url", "http://127.0.0.1:9", "--api-key", KEY]
    failed = call("answers", str(folder / "suite.yaml"), *options)
    assert failed.exit_code == 1
    assert "is `askem serve` running there?" in failed.output


def test_the_table_has_the_answers(folder: Path, server: Any) -> None:
    assert with_searches(folder, server).exit_code == 0
    table = (folder / "tables/small.md").read_text(encoding="utf-8")
    assert "## Answers" in table
    row = "| extractive | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 | - | - | 1.000 | 1.000 | 1.000 |"
    assert row in table
    assert "| extractive, unanswerable refused |" in table
    assert " ms" not in table


def test_a_table_without_its_answers_is_stale(folder: Path, server: Any) -> None:
    with_searches(folder, server)
    (folder / "results/small/answers-extractive.json").unlink()
    where = ["--results", str(folder / "results"), "--out", str(folder / "tables")]
    checked = call("tables", str(folder / "suite.yaml"), *where, "--check")
    assert checked.exit_code == 1
    assert "small.md is not what its result files say" in checked.output


@pytest.mark.parametrize(("elsewhere", "status"), [(False, 1), (True, 0)])
def test_answers_of_another_corpus_are_shown_as_such_where_a_server_elsewhere_was_asked(
    folder: Path, server: Any, elsewhere: bool, status: int
) -> None:
    with_searches(folder, server)
    path = folder / "results/small/answers-extractive.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["manifest"]["corpus"]["digest"] = "x"
    content["config"]["elsewhere"] = elsewhere
    path.write_text(json.dumps(content), encoding="utf-8")
    where = ["--results", str(folder / "results"), "--out", str(folder / "tables")]
    shown = call("tables", str(folder / "suite.yaml"), *where)
    assert shown.exit_code == status
    if elsewhere:
        table = (folder / "tables/small.md").read_text(encoding="utf-8")
        assert "| extractive, on another corpus |" in table
    else:
        assert "on another corpus" in shown.output


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("manifest", "questions"), "x", "on other questions"),
        (("config", "name"), "other", "holds the answers of other"),
        (("measures", "F1"), [1.0], "a value for each question"),
        (("unanswerable", "ids"), None, None),
    ],
)
def test_a_row_that_disagrees_with_its_label_is_not_shown(
    folder: Path, server: Any, place: tuple[str, str], value: Any, said: str | None
) -> None:
    with_searches(folder, server)
    path = folder / "results/small/answers-extractive.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    if said is None:
        del content[place[0]][place[1]]
        said = "is not of this version"
    else:
        content[place[0]][place[1]] = value
    path.write_text(json.dumps(content), encoding="utf-8")
    where = ["--results", str(folder / "results"), "--out", str(folder / "tables")]
    shown = call("tables", str(folder / "suite.yaml"), *where)
    assert shown.exit_code == 1
    assert said in shown.output


def test_two_models_are_compared(folder: Path, server: Any) -> None:
    answers(folder, server, "--name", "one")
    del server.answers["What lowered carbon dioxide in classrooms?"]
    answers(folder, server, "--name", "two")
    runs = folder / "cache/runs/small"
    compared = call("compare", str(runs / "answers-one"), str(runs / "answers-two"))
    assert compared.exit_code == 0, compared.exception
    assert "two - one, 2 questions:" in compared.output
    assert "gold cited -0.5000" in compared.output
    assert "-1.000  q2: What lowered carbon dioxide in classrooms?" in compared.output


def test_answers_and_searches_are_not_compared(folder: Path, server: Any) -> None:
    with_searches(folder, server)
    runs = folder / "cache/runs/small"
    compared = call("compare", str(runs / "default"), str(runs / "answers-extractive"))
    assert "no measure in common" in str(compared.exception)


@pytest.mark.parametrize("command", ["replay", "calibrate"])
def test_only_searches_are_replayed_and_calibrated(folder: Path, server: Any, command: str) -> None:
    answers(folder, server)
    refused = call(command, str(folder / "cache/runs/small/answers-extractive"))
    assert isinstance(refused.exception, AskemError)
    assert "is a run of answers" in str(refused.exception)


def test_the_report_shows_the_worst_answers_escaped(folder: Path, server: Any) -> None:
    golden = folder / "golden.yaml"
    quoted = golden.read_text(encoding="utf-8").replace('"windows#p0"', '"windows#p0", quote: air')
    golden.write_text(quoted, encoding="utf-8")
    wrong = server.answers["How much do surgical masks filter?"]
    wrong["answer"] = "<script>alert(1)</script>"
    wrong["used_docs"][0]["text"] = "<b>S</b> and so on"
    wrong["sentences"][0]["citations"][0] |= {"start": 0, "end": 8, "quote": "<b>S</b>"}
    with_searches(folder, server)
    out = folder / "report.html"
    where = ["--results", str(folder / "results"), "--cache", str(folder / "cache")]
    written = call("report", str(folder / "suite.yaml"), *where, "--out", str(out))
    assert written.exit_code == 0, written.exception
    page = out.read_text(encoding="utf-8")
    assert "<h3>extractive: worst answers</h3>" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "found in source: “&lt;b&gt;S&lt;/b&gt;”" in page
    assert "<script" not in page
