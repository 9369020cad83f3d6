"""`askem eval answers`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from askem.errors import ConfigurationError
from askem.evaluation.options import CACHE, RESULTS, SUITES, progress_line

if TYPE_CHECKING:
    from askem.evaluation.answers.running import AnswersRun, Say, Target
    from askem.evaluation.config import Suite
    from askem.evaluation.judge.asking import JudgeSettings


@click.command()
@SUITES
@RESULTS
@CACHE
@click.option("--url", help="A running server. Absent: one over the suite's corpus is started.")
@click.option("--api-key", envvar="ASKEM_API_KEY", help="Default: the file in the data folder.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="ASKEM_DATA_DIR, ./data.")
@click.option("--model", default="extractive", show_default=True, help="Who is to answer.")
@click.option("--name", help="Of the result file, answers-NAME.json. Default: the model's.")
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help="Questions asked at a time.",
)
@click.option("--judge", help="Have this model of OPENAI_BASE_URL judge the answers as well.")
@click.option("--repeats", type=click.IntRange(1, 20), default=3, show_default=True)
def answers(
    suites: tuple[Path, ...],
    results: Path,
    cache: Path,
    url: str | None,
    api_key: str | None,
    data_dir: Path | None,
    model: str,
    name: str | None,
    workers: int,
    judge: str | None,
    repeats: int,
) -> None:
    """Ask a server every question of each SUITE through /react, and measure its answers.

    A question that fails ends the run, and nothing is written of it.
    """
    from askem.evaluation.answers.running import Places, Target, run_answers
    from askem.evaluation.answers.tables import summary
    from askem.evaluation.config import AnswersConfig
    from askem.evaluation.suites import place, read_questions

    config = AnswersConfig(name=name or _slug(model), model=model, elsewhere=url is not None)
    given = Target(url, _key(api_key, data_dir)) if url else None
    # What is missing for the judge is said before anything is asked.
    judging = _judge_settings(judge) if judge else None
    for path in suites:
        suite, base = place(path)
        if base is None:
            click.echo(f"{suite.name}: skipped, {suite.needs} is not set (see evals/README.md)")
            continue
        line = progress_line(f"{suite.name}/answers-{config.name}")
        places = Places(path, results, cache)
        with _target(given, suite, base, cache, line) as target, _said(target):
            labelled = read_questions(suite, base)
            run = run_answers(target, suite, labelled, config, places, workers=workers, line=line)
        line("")
        click.echo(f"{suite.name}/answers-{config.name}: " + "\n".join(summary(run)))
        if judging:
            _judge(run, judging, repeats, line)


@contextmanager
def _target(
    given: Target | None, suite: Suite, base: Path, cache: Path, line: Say
) -> Iterator[Target]:
    from askem.evaluation.answers.running import own_server

    if given:
        yield given
        return
    with own_server(suite, base, cache, line) as target:
        yield target


@contextmanager
def _said(target: Target) -> Iterator[None]:
    """What is wrong with the server as a whole, in words for whoever started the run."""
    from askem.http.calling import what_to_do
    from askem.http.exchange import ClientError

    try:
        yield
    except ClientError as error:
        raise click.ClickException(what_to_do(error, target.url)) from None


def _key(given: str | None, data_dir: Path | None) -> str:
    from askem.http.calling import key_for
    from askem.settings import CommonSettings

    return key_for(given, data_dir or CommonSettings().data_dir)


def _slug(model: str) -> str:
    return re.sub(r"[^a-z0-9.-]+", "-", model.lower()).strip("-.")[:64] or "model"


def _judge_settings(model: str) -> JudgeSettings:
    try:
        from askem.evaluation.judge.asking import settings_from
    except ImportError as error:
        raise ConfigurationError(
            f"--judge needs more packages ({error}): pip install 'askem[remote]'"
        ) from error
    return settings_from(os.environ, model)


def _judge(run: AnswersRun, settings: JudgeSettings, repeats: int, line: Say) -> None:
    from askem.evaluation.judge.asking import Judge
    from askem.evaluation.judge.judging import judge_answers, lines_of, write_judged

    with Judge(settings) as judge:
        judged = judge_answers(judge, run.kept, repeats=repeats, progress=line)
    line("")
    write_judged(run.folder, judged)
    for text in lines_of(judged):
        click.echo(text)
