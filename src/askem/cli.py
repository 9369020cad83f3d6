"""The `askem` command. Its subcommands come from the services that are installed."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from typing import Any, NoReturn

import click
from pydantic import ValidationError
from pydantic_settings import SettingsError

import askem
from askem.errors import AskemError

COMMANDS_GROUP = "askem.commands"


class ServiceCommands(click.Group):
    """Loads a subcommand's module only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(entry.name for entry in entry_points(group=COMMANDS_GROUP))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for entry in entry_points(group=COMMANDS_GROUP, name=cmd_name):
            command = entry.load()
            if isinstance(command, click.Command):
                return command
        return None


@click.group(cls=ServiceCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(askem.__version__)
def cli() -> None:
    """Ask questions of a scientific literature."""


def main() -> None:
    """Runs the command; what goes wrong on purpose is a line on stderr and exit status 1."""
    # Before numpy is loaded: parallelism comes from our own workers, and OpenBLAS's threads under
    # them make a small product many times slower on a busy machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with readable_errors():
        sys.exit(cli(standalone_mode=False))


@contextmanager
def readable_errors() -> Iterator[None]:
    """Turns what goes wrong on purpose, or in files and databases, into a line on stderr."""
    try:
        yield
    except click.UsageError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        _stop(error.format_message())
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _stop("interrupted; run the same command again to go on", status=130)
    except ValidationError as error:
        for problem in error.errors():
            click.echo(f"askem: {_setting(problem['loc'])}: {_wrong(problem)}", err=True)
        sys.exit(2)
    except SettingsError as error:
        # Says which field's value could not be read; its cause, the parser's words, is worth more.
        _stop(f"settings: {error}: {error.__cause__}", status=2)
    except (AskemError, OSError, sqlite3.Error) as error:
        _stop(str(error))


def _setting(place: Sequence[str | int]) -> str:
    """A setting as it is written in the environment: `ASKEM_MODELS[0]`."""
    name, *rest = map(str, place or ("settings",))
    # Those that are known by another prefix are named in capitals already.
    name = name if name.isupper() else f"ASKEM_{name.upper()}"
    return name + "".join(f"[{part}]" for part in rest)


_KINDS = {"tuple_type": "must be a JSON list", "dict_type": "must be a JSON object"}


def _wrong(problem: Mapping[str, Any]) -> str:
    return _KINDS.get(problem["type"]) or str(problem["msg"])


def _stop(message: str, status: int = 1) -> NoReturn:
    click.echo(f"askem: {message}", err=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
