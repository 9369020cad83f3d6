"""The `askem` command. Its subcommands come from the services that are installed."""

from __future__ import annotations

import os
import sys
from importlib.metadata import entry_points

import click
from pydantic import ValidationError

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
    try:
        cli()
    except ValidationError as error:
        for problem in error.errors():
            where = "_".join(str(part) for part in problem["loc"]).upper()
            click.echo(f"askem: ASKEM_{where}: {problem['msg']}", err=True)
        sys.exit(2)
    except AskemError as error:
        click.echo(f"askem: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
