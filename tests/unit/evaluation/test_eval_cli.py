"""`askem eval`: what it writes, what it repeats, and each guard, tripped on purpose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from askem.errors import AskemError, InvalidInput
from askem.evaluation.cli import evaluate
from askem.evaluation.gold import MissingGold


def invoke(folder: Path, *arguments: str) -> Result:
    where = ["--results", str(folder / "results")]
    if arguments[0] == "run":
        where += ["--cache", str(folder / "cache")]
    if arguments[0] == "tables":
        where += ["--out", str(folder / "tables")]
    return CliRunner().invoke(evaluate, [*arguments, str(folder / "suite.yaml"), *where])


def run(folder: Path, *more: str) -> Result:
    return invoke(folder, "run", *more)


def tables(folder: Path, *more: str) -> Result:
    return invoke(folder, "tables", *more)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def stored(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "results/small").iterdir()}


def test_a_run_writes_what_the_table_is_made_of(folder: Path) -> None:
    assert run(folder).exit_code == 0
    assert tables(folder).exit_code == 0
    table = (folder / "tables/small.md").read_text(encoding="utf-8")
    assert "| **both legs** | 1.000 |" in table
    assert "2 questions, 2 papers, 4 passages; encoder fake-256" in table
    trec = (folder / "cache/runs/small/default/run.trec").read_text(encoding="utf-8")
    assert trec.startswith("q1 Q0 masks#p1 1 ")


def test_a_repeat_gives_the_same_files(folder: Path) -> None:
    run(folder)
    first = stored(folder)
    run(folder)
    assert stored(folder) == first


def test_a_changed_corpus_is_indexed_anew(folder: Path) -> None:
    run(folder)
    change(folder / "papers/masks.txt", "Masks of cloth", "Cloths")
    run(folder)
    indexes = [path for path in (folder / "cache/index").iterdir() if path.is_dir()]
    assert len(indexes) == 2


def test_what_an_interrupted_run_left_is_not_used(folder: Path) -> None:
    run(folder)
    first = stored(folder)
    (index,) = (path for path in (folder / "cache/index").iterdir() if path.is_dir())
    (index / "complete").unlink()
    (index / "askem.sqlite3").write_bytes(b"torn")
    assert run(folder).exit_code == 0
    assert stored(folder) == first


def test_one_configuration_alone(folder: Path) -> None:
    assert run(folder, "--only", "bm25").exit_code == 0
    assert {"bm25.json", "questions.json"} == set(stored(folder))
    assert "no run other" in run(folder, "--only", "other").output


def test_gold_that_is_not_in_the_corpus_fails_the_run(folder: Path) -> None:
    change(folder / "golden.yaml", "windows#p0", "windows#p7")
    failed = run(folder)
    assert isinstance(failed.exception, MissingGold)
    assert "q2 (windows#p7)" in str(failed.exception)
    assert not (folder / "results/small/default.json").exists()


def test_a_retriever_without_a_leg_is_refused(folder: Path) -> None:
    change(folder / "suite.yaml", "legs: [sparse]", "legs: []")
    failed = run(folder)
    assert isinstance(failed.exception, InvalidInput)
    assert "without a leg" in str(failed.exception)


def test_an_unknown_encoder_fails(folder: Path) -> None:
    change(folder / "suite.yaml", "both legs, encoder: hash", "both legs, encoder: bge-large")
    failed = run(folder)
    assert isinstance(failed.exception, AskemError)
    assert "bge-large" in str(failed.exception)


def test_a_row_is_not_shown_when_its_file_is_of_another_configuration(folder: Path) -> None:
    run(folder)
    change(folder / "suite.yaml", "legs: [sparse]", "legs: [dense]")
    shown = tables(folder)
    assert shown.exit_code == 1
    assert "bm25.json was measured with another configuration" in shown.output
    assert not (folder / "tables").exists()


def test_a_table_needs_every_row(folder: Path) -> None:
    run(folder, "--only", "default")
    shown = tables(folder)
    assert shown.exit_code == 1
    assert "bm25.json is missing" in shown.output


def test_values_of_other_questions_are_not_shown(folder: Path) -> None:
    run(folder)
    change(folder / "golden.yaml", "surgical masks filter?", "cloth masks filter?")
    run(folder, "--only", "default")
    assert "bm25.json was measured on other questions" in tables(folder).output


def test_a_stale_table_fails_the_check(folder: Path) -> None:
    run(folder)
    tables(folder)
    assert tables(folder, "--check").exit_code == 0
    change(folder / "tables/small.md", "1.000", "0.999")
    checked = tables(folder, "--check")
    assert checked.exit_code == 1
    assert "small.md is not what its result files say" in checked.output
    assert "0.999" in (folder / "tables/small.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("option", "status"), [(False, 1), (True, 0)])
def test_a_default_that_is_worse_than_a_row_fails(folder: Path, option: bool, status: int) -> None:
    questions = [f"{{id: q{i}, question: masks, gold: [{{paper_id: masks}}]}}" for i in range(40)]
    (folder / "golden.yaml").write_text(
        "questions: [" + ", ".join(questions) + "]", encoding="utf-8"
    )
    change(folder / "suite.yaml", "legs: [sparse]", f"legs: [sparse], option: {option}")
    run(folder)
    results = folder / "results/small"
    # All questions of one paper are one cluster: say that they are of many.
    labels = json.loads((results / "questions.json").read_text(encoding="utf-8"))
    labels["clusters"] = labels["ids"]
    (results / "questions.json").write_text(json.dumps(labels), encoding="utf-8")
    default = json.loads((results / "default.json").read_text(encoding="utf-8"))
    default["measures"]["nDCG@10"] = [0.5] * 40
    (results / "default.json").write_text(json.dumps(default), encoding="utf-8")
    shown = tables(folder)
    assert shown.exit_code == status
    assert ("bm25 is better than the default" in shown.output) == bool(status)


def test_a_suite_whose_data_is_not_here_is_skipped_with_a_word(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(folder / "suite.yaml", "title:", "needs: NO_SUCH_DATA\ntitle:")
    monkeypatch.delenv("NO_SUCH_DATA", raising=False)
    skipped = run(folder)
    assert skipped.exit_code == 0
    assert "small: skipped, NO_SUCH_DATA is not set" in skipped.output
    assert not (folder / "results").exists()


def call(*arguments: str) -> Result:
    return CliRunner().invoke(evaluate, list(arguments))


def test_two_runs_are_compared_question_by_question(folder: Path) -> None:
    change(folder / "suite.yaml", "[sparse], encoder", "[dense], encoder")
    run(folder)
    runs = folder / "cache/runs/small"
    change(runs / "bm25/questions.jsonl", '"nDCG@10": 1.0', '"nDCG@10": 0.5')
    compared = call("compare", str(runs / "default"), str(runs / "bm25"))
    assert compared.exit_code == 0
    assert "bm25 - default, 2 questions:" in compared.output
    assert "nDCG@10    -0.5000" in compared.output
    assert "-0.500  q1: How much do surgical masks filter?" in compared.output


def test_runs_of_other_questions_are_not_compared(folder: Path) -> None:
    run(folder)
    runs = folder / "cache/runs/small"
    change(runs / "bm25/questions.jsonl", '"id": "q1"', '"id": "q9"')
    compared = call("compare", str(runs / "default"), str(runs / "bm25"))
    assert "not of the same labelled questions" in str(compared.exception)


def test_a_replay_shows_what_changed_since(folder: Path) -> None:
    run(folder)
    earlier = str(folder / "cache/runs/small/default")
    cache = ["--cache", str(folder / "cache")]
    assert "0 of 3 questions have other hits" in call("replay", earlier, *cache).output
    change(folder / "papers/masks.txt", "Surgical masks", "Surgical masks, in classrooms,")
    replayed = call("replay", earlier, *cache).output
    assert "q2: What lowered carbon dioxide in classrooms?" in replayed
    assert "1 of 3 questions have other hits" in replayed


def test_a_threshold_is_chosen_and_written_as_a_setting(folder: Path) -> None:
    questions = [
        f"{{id: a{i}, question: surgical masks droplets {i}, cluster: a{i}, "
        "gold: [{paper_id: masks}]}"
        for i in range(8)
    ]
    questions += [
        f"{{id: n{i}, question: painted ceiling masks {i}, unanswerable: true}}" for i in range(8)
    ]
    (folder / "golden.yaml").write_text(
        "questions: [" + ", ".join(questions) + "]", encoding="utf-8"
    )
    run(folder)
    env = folder / ".env"
    env.write_text("ASKEM_PORT=4502\nASKEM_REFUSE_SCORE=9\n", encoding="utf-8")
    chosen = call("calibrate", str(folder / "cache/runs/small/default"), "--write", str(env))
    assert chosen.exit_code == 0, chosen.exception
    line = chosen.output.splitlines()[0]
    assert line.startswith("ASKEM_REFUSE_SCORE=")
    assert env.read_text(encoding="utf-8") == f"ASKEM_PORT=4502\n{line}\n"


def test_a_ranking_without_one_scale_cannot_be_calibrated(folder: Path) -> None:
    run(folder)
    refused = call("calibrate", str(folder / "cache/runs/small/bm25"))
    assert "on one scale" in str(refused.exception)


def test_unanswerable_questions_of_further_files(folder: Path) -> None:
    more = [
        {"_id": "1", "text": "Who sang?", "about": "music"},
        {"_id": "2", "text": "Who danced?", "about": "dance"},
    ]
    lines = "\n".join(map(json.dumps, more))
    (folder / "more.jsonl").write_text(lines, encoding="utf-8")
    change(
        folder / "suite.yaml",
        "{golden: golden.yaml}",
        "{golden: golden.yaml, unanswerable: [{file: more.jsonl, where: {about: music}}]}",
    )
    run(folder)
    asked = (folder / "cache/runs/small/default/questions.jsonl").read_text(encoding="utf-8")
    assert "Who sang?" in asked
    assert "Who danced?" not in asked


def test_the_report_escapes_what_it_shows_and_loads_nothing(folder: Path) -> None:
    change(folder / "golden.yaml", "surgical masks filter?", "<script>masks</script> filter?")
    change(folder / "suite.yaml", "legs: [sparse]", "legs: [dense]")
    run(folder)
    out = folder / "report.html"
    where = ["--results", str(folder / "results"), "--cache", str(folder / "cache")]
    written = call("report", str(folder / "suite.yaml"), *where, "--out", str(out))
    assert written.exit_code == 0, written.exception
    page = out.read_text(encoding="utf-8")
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page
    assert "<td>both legs</td>" in page


def test_the_worst_questions_are_explained(folder: Path) -> None:
    change(folder / "golden.yaml", "What lowered carbon dioxide in classrooms?", "How are masks?")
    run(folder)
    out = folder / "report.html"
    where = ["--results", str(folder / "results"), "--cache", str(folder / "cache")]
    assert call("report", str(folder / "suite.yaml"), *where, "--out", str(out)).exit_code == 0
    page = out.read_text(encoding="utf-8")
    assert "windows#p0; not screened (BM25 0.00, the last screened " in page
