"""What commands of `askem eval` share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

RESULTS = click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=Path("evals/results"),
    show_default=True,
    help="Where result files are kept, a folder a suite.",
)
CACHE = click.option(
    "--cache",
    type=click.Path(path_type=Path),
    default=Path(".cache/evals"),
    show_default=True,
    help="Where indexes and full runs are kept.",
)
SUITES = click.argument(
    "suites", type=click.Path(path_type=Path, exists=True, dir_okay=False), nargs=-1, required=True
)


def progress_line(label: str) -> Callable[[str], None]:
    """Rewrites one line on a terminal; says nothing into a pipe."""
    if not sys.stderr.isatty():
        return lambda _: None
    return lambda text: click.echo(f"\r\x1b[K{label}: {text}", nl=False, err=True)
