"""The judge, against a scripted server of the OpenAI protocol."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from askem.errors import ConfigurationError
from askem.evaluation.answers.folder import Kept
from askem.evaluation.cli import evaluate
from askem.evaluation.judge.asking import (
    Judge,
    JudgeMalformed,
    JudgeRejected,
    JudgeSettings,
    JudgeUnavailable,
    prompt_text,
    settings_from,
)
from askem.evaluation.judge.judging import (
    context_precision,
    context_recall,
    correctness,
    faithfulness,
    judge_answers,
    lines_of,
    read_judged,
    write_judged,
)
from askem.testing.openai_server import OpenAiServer, Request, Turn, drop, error, raw, text

KEPT = Kept(
    id="q1",
    question="When did the bridge fall?",
    kind="factual",
    unanswerable=False,
    gold_answer="In {1902}.",
    gold=(("a#p0",),),
    measures={},
    answer="The bridge fell in 1902 [1].",
    refused=False,
    reason=None,
    confidence="high",
    score=2.0,
    stopped=None,
    sentences=({"text": "The bridge fell in 1902."},),
    used_docs=("a#p0", "b#p0", "c#p0"),
    passages=("It fell in 1902.", "Cork is light.", "Bridges fall."),
    steps=(),
    usage={},
)


def says(content: Any) -> Turn:
    return text(json.dumps(content))


def statements(*supported: bool) -> Turn:
    return says({"statements": [{"statement": "s", "supported": yes} for yes in supported]})


def useful(*flags: bool) -> Turn:
    numbered = [{"number": n, "useful": yes} for n, yes in enumerate(flags, 1)]
    return says({"passages": numbered})


def judge_at(server: OpenAiServer) -> Judge:
    return Judge(JudgeSettings("judge-1", server.url, "k", timeout_s=10.0, retries=0))


@pytest.mark.parametrize(
    ("measure", "turn", "value"),
    [
        (faithfulness, statements(True, True, False, True), 0.75),
        (faithfulness, statements(), 0.0),
        (correctness, says({"verdict": "correct"}), 1.0),
        (correctness, says({"verdict": "partly"}), 0.5),
        (correctness, says({"verdict": "wrong"}), 0.0),
        (context_recall, statements(True, False), 0.5),
        # Useful at ranks 1 and 3: (1/1 + 2/3) / 2.
        (context_precision, useful(True, False, True), 5 / 6),
        (context_precision, useful(False, False, False), 0.0),
    ],
)
def test_a_measure(
    measure: Callable[[Judge, Kept], float | None], turn: Turn, value: float
) -> None:
    with OpenAiServer([turn]) as server, judge_at(server) as judge:
        assert measure(judge, KEPT) == pytest.approx(value)
        (request,) = server.requests
    assert request.body["response_format"]["json_schema"]["strict"] is True
    assert "When did the bridge fall?" in request.body["messages"][0]["content"]


def test_texts_go_into_the_prompt_as_they_are() -> None:
    filled = prompt_text(
        "correctness", {"question": "{gold}", "gold": "In {1902}.", "answer": "{}"}
    )
    assert "<<<QUESTION\n{gold}\nQUESTION>>>" in filled
    assert "In {1902}." in filled
    assert '{"verdict": "correct"}' in filled


@pytest.mark.parametrize("measure", [correctness, context_precision, context_recall])
def test_a_refusal_is_zero_and_is_not_asked_about(
    measure: Callable[[Judge, Kept], float | None],
) -> None:
    with OpenAiServer() as server, judge_at(server) as judge:
        assert measure(judge, replace(KEPT, refused=True)) == 0.0
        assert measure(judge, replace(KEPT, gold_answer=None)) is None
        assert faithfulness(judge, replace(KEPT, refused=True)) is None
        assert not server.requests


def test_an_answer_of_another_shape_is_asked_for_once_more() -> None:
    turns = [text("Well, yes."), says({"verdict": "correct"})]
    with OpenAiServer(turns) as server, judge_at(server) as judge:
        assert correctness(judge, KEPT) == 1.0
    with (
        OpenAiServer([text("Well, yes."), says({"verdict": "perhaps"})]) as server,
        judge_at(server) as judge,
        pytest.raises(JudgeMalformed, match="judge-1 did not answer correctness as asked"),
    ):
        correctness(judge, KEPT)


def test_every_passage_has_to_be_judged() -> None:
    with (
        OpenAiServer([useful(True, True)]) as server,
        judge_at(server) as judge,
        pytest.raises(JudgeMalformed, match=r"q1: .* did not judge every passage"),
    ):
        context_precision(judge, KEPT)


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        (error(401), JudgeRejected),
        (error(400), JudgeRejected),
        (error(429), JudgeUnavailable),
        (error(500), JudgeUnavailable),
        (drop(), JudgeUnavailable),
        (raw(b"{}"), JudgeMalformed),
    ],
)
def test_failures_are_typed(turn: Turn, kind: type[Exception]) -> None:
    with (
        OpenAiServer([turn]) as server,
        judge_at(server) as judge,
        pytest.raises(kind) as failed,
    ):
        correctness(judge, KEPT)
    assert "upstream says no" not in str(failed.value)


def test_repeats_have_a_spread(tmp_path: Path) -> None:
    verdicts = iter(["correct", "wrong", "partly", "partly"])

    def script(request: Request) -> Turn:
        name = request.body["response_format"]["json_schema"]["name"]
        if name == "Verdict":
            return says({"verdict": next(verdicts)})
        return statements(True) if name == "Statements" else useful(True, False, False)

    answers = [KEPT, replace(KEPT, id="q2"), replace(KEPT, id="q3", unanswerable=True)]
    with OpenAiServer(script) as server, judge_at(server) as judge:
        judged = judge_answers(judge, answers, repeats=2, progress=lambda _: None)
    # Repeats: (1 + .5) / 2 and (0 + .5) / 2.
    shown = "\n".join(lines_of(judged))
    assert "judged by judge-1, 2 times" in shown
    assert "correctness: 0.500 [0.250, 0.750], 2 questions" in shown
    assert judged.by_question["q1"]["correctness"] == [1.0, 0.0]
    write_judged(tmp_path, judged)
    assert read_judged(tmp_path) == judged


def test_a_judge_needs_a_key() -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        settings_from({}, "judge-1")


def test_a_judge_without_a_key_is_refused_before_anything_is_asked(
    folder: Path, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    options = ["--url", server.base_url, "--api-key", "test-key-0123456789", "--judge", "j"]
    ran = CliRunner().invoke(evaluate, ["answers", str(folder / "suite.yaml"), *options])
    assert isinstance(ran.exception, ConfigurationError)
    assert not server.asked


def test_judging_is_asked_for_and_stays_out_of_the_result(
    folder: Path, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["--results", str(folder / "results"), "--cache", str(folder / "cache")]
    options += ["--url", server.base_url, "--api-key", "test-key-0123456789"]
    with OpenAiServer(lambda _: statements(True)) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        arguments = ["answers", str(folder / "suite.yaml"), *options]
        ran = CliRunner().invoke(evaluate, [*arguments, "--judge", "judge-1", "--repeats", "1"])
    assert ran.exit_code == 0, ran.exception
    assert "judged by judge-1, 1 times" in ran.output
    assert "faithfulness: 1.000 [1.000, 1.000], 2 questions" in ran.output
    run = folder / "cache/runs/small/answers-extractive"
    judged = read_judged(run)
    assert judged is not None
    assert judged.judge == "judge-1"
    assert "judge" not in (folder / "results/small/answers-extractive.json").read_text()
