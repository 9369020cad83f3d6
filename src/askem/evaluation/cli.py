"""`askem eval`: measuring, on Askem's own suites or an operator's."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from askem.errors import AskemError, ConfigurationError
from askem.evaluation.answers.cli import answers
from askem.evaluation.options import CACHE, RESULTS, SUITES, progress_line


@click.group(name="eval")
def evaluate() -> None:
    """Measure how well questions are answered, and compare ways of doing it."""
    _require_extra()


evaluate.add_command(answers)


@evaluate.command()
@SUITES
@RESULTS
@CACHE
@click.option("--only", multiple=True, help="Only this configuration; may be given repeatedly.")
def run(suites: tuple[Path, ...], results: Path, cache: Path, only: tuple[str, ...]) -> None:
    """Run each SUITE's configurations and write their result files."""
    from askem.evaluation.suites import place, run_suite

    for path in suites:
        suite, base = place(path)
        if base is None:
            click.echo(f"{suite.name}: skipped, {suite.needs} is not set (see evals/README.md)")
            continue
        unknown = set(only) - {config.name for config in suite.runs}
        if unknown:
            raise click.UsageError(f"{suite.name} has no run {', '.join(sorted(unknown))}")
        run_suite(
            path, suite, base, results, cache, only=only, progress=progress_line, say=click.echo
        )


@evaluate.command()
@SUITES
@RESULTS
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("evals/tables"),
    show_default=True,
    help="Where the tables are written.",
)
@click.option("--check", is_flag=True, help="Write nothing; fail where a table is not up to date.")
def tables(suites: tuple[Path, ...], results: Path, out: Path, check: bool) -> None:
    """Make each SUITE's table from its result files.

    Fails where a result file is not of the configuration its row names, and where a row is
    better than the default by more than chance.
    """
    from askem.evaluation.answers.results import read_answers_results
    from askem.evaluation.answers.tables import answers_section
    from askem.evaluation.config import read_suite
    from askem.evaluation.results import read_results
    from askem.evaluation.tables import check_default, default_of, table

    faults = []
    for path in suites:
        try:
            suite = read_suite(path)
            labels, rows = read_results(results / suite.name, suite)
            corpus = default_of(suite, rows).manifest["corpus"]["digest"]
            answers = read_answers_results(results / suite.name, labels, corpus)
            text = table(suite, labels, rows, answers_section(labels, answers))
            target = out / f"{suite.name}.md"
            if not check:
                out.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
            elif not target.is_file() or target.read_text(encoding="utf-8") != text:
                faults.append(f"{target} is not what its result files say: run `make tables`")
            check_default(suite, labels, rows)
        except AskemError as error:
            faults.append(str(error))
    for fault in faults:
        click.echo(f"askem: {fault}", err=True)
    if faults:
        sys.exit(1)


@evaluate.command()
@click.argument("suite", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@RESULTS
@CACHE
@click.option("--out", type=click.Path(path_type=Path), default=Path("report.html"))
def report(suite: Path, results: Path, cache: Path, out: Path) -> None:
    """Write SUITE's results as one HTML file that loads nothing.

    The worst questions and the sweep need the default's run in the cache.
    """
    from askem.evaluation.answers.reporting import sections
    from askem.evaluation.answers.results import read_answers_results
    from askem.evaluation.config import read_suite
    from askem.evaluation.report import render
    from askem.evaluation.results import read_results
    from askem.evaluation.runfolder import read_run
    from askem.evaluation.tables import default_of

    config = read_suite(suite)
    labels, rows = read_results(results / config.name, config)
    folder = cache / "runs" / config.name / config.default
    run_of_default = read_run(folder) if folder.is_dir() else None
    corpus = default_of(config, rows).manifest["corpus"]["digest"]
    answered = read_answers_results(results / config.name, labels, corpus)
    shown = sections(answered, cache / "runs" / config.name)
    out.write_text(render(config, labels, rows, run_of_default, shown), encoding="utf-8")
    click.echo(f"wrote {out}")


_RUN_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@evaluate.command()
@click.argument("first", type=_RUN_FOLDER)
@click.argument("second", type=_RUN_FOLDER)
@click.option("--show", default=10, show_default=True, help="How many wins and losses to print.")
def compare(first: Path, second: Path, show: int) -> None:
    """Is the run in SECOND better than that in FIRST, where, and is it more than chance?

    Both are folders of runs below the cache (runs/SUITE/NAME).
    """
    from askem.evaluation.comparison import compare_runs
    from askem.evaluation.runfolder import read_run

    for line in compare_runs(read_run(first), read_run(second), show=show):
        click.echo(line)


@evaluate.command()
@click.argument("run_folder", metavar="RUN", type=_RUN_FOLDER)
@CACHE
def replay(run_folder: Path, cache: Path) -> None:
    """Ask the questions of RUN again, and show where other passages come back now."""
    from askem.evaluation import suites
    from askem.evaluation.comparison import changed_since
    from askem.evaluation.runfolder import read_run

    earlier = read_run(run_folder)
    done = suites.replay(earlier.suite, earlier.searching, cache, progress=progress_line)
    for line in changed_since(earlier, done):
        click.echo(line)


@evaluate.command()
@click.argument("run_folder", metavar="RUN", type=_RUN_FOLDER)
@click.option(
    "--budget",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="Largest share of answerable questions that may be refused.",
)
@click.option("--write", type=click.Path(path_type=Path), help="Put the setting into this .env.")
def calibrate(run_folder: Path, budget: float, write: Path | None) -> None:
    """Choose the threshold of refusal from RUN, whose questions are answerable or not.

    It is chosen on one half of the questions; what is reported was measured on the other.
    """
    from askem.evaluation import calibrating
    from askem.evaluation.runfolder import read_run

    for line in calibrating.calibrate_run(read_run(run_folder), budget, write):
        click.echo(line)


def _require_extra() -> None:
    """Raises ConfigurationError where the packages of the extra are not installed."""
    try:
        import ir_measures  # noqa: F401
        import yaml  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(
            f"askem eval needs more packages ({error}): they are in requirements.lock"
        ) from error
