"""`askem keys`: make, list and revoke the API keys of a data folder."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from askem.errors import AskemError
from askem.http.keyring import KeyRecord, Keyring
from askem.http.scopes import SCOPES, parse_expiry, parse_scopes
from askem_retriever.settings import RetrieverSettings

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _data_dir_option(function: _Function) -> _Function:
    option = click.option(
        "--data-dir", type=click.Path(path_type=Path), help="ASKEM_DATA_DIR, ./data."
    )
    return option(function)


@contextmanager
def _keyring(data_dir: Path | None) -> Iterator[Keyring]:
    try:
        yield Keyring(data_dir or RetrieverSettings().data_dir)
    except AskemError as error:
        raise click.ClickException(str(error)) from None


@click.group()
def keys() -> None:
    """Make, list and revoke API keys.

    A running server takes note within seconds.
    """


@keys.command()
@click.option("--name", required=True, help="Who or what it is for; logs and lists show it.")
@click.option("--scopes", required=True, help=f"One or more of {','.join(SCOPES)}.")
@click.option("--expires", help="A length (90d, 12h) or a last day in UTC (2027-01-31).")
@_data_dir_option
def create(name: str, scopes: str, expires: str | None, data_dir: Path | None) -> None:
    """Make a key and print it, for the only time.

    The key alone goes to standard output, what is to be said about it to standard error.
    """
    with _keyring(data_dir) as keyring:
        end = None if expires is None else parse_expiry(expires, time.time())
        record, key = keyring.create(name, parse_scopes(scopes), end)
    click.echo(key)
    until = f"until {_when(end)}" if end else "until it is revoked"
    click.echo(
        f"Key {record.id} ({record.name}) is good for {', '.join(record.scopes)} {until}. "
        "It cannot be shown again: keep it now.",
        err=True,
    )


@keys.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, a line a key.")
@_data_dir_option
def list_keys(as_json: bool, data_dir: Path | None) -> None:
    """List all keys, the oldest first, revoked and expired ones too."""
    with _keyring(data_dir) as keyring:
        records = keyring.records()
    now = time.time()
    if not records and not as_json:
        click.echo("No keys. Make one with `askem keys create`.")
    for record in records:
        click.echo(json.dumps(_described(record, now)) if as_json else _line(record, now))


@keys.command()
@click.argument("key_id", metavar="ID")
@_data_dir_option
def revoke(key_id: str, data_dir: Path | None) -> None:
    """Revoke the key with this ID, for good."""
    with _keyring(data_dir) as keyring:
        record = keyring.revoke(key_id)
    click.echo(f"revoked    {record.id} ({record.name}) at {_when(record.revoked_at)}")


def _described(record: KeyRecord, now: float) -> dict[str, Any]:
    return {
        "id": record.id,
        "name": record.name,
        "scopes": list(record.scopes),
        "state": record.state(now),
        "created_at": _when(record.created_at),
        "expires_at": _when(record.expires_at),
        "revoked_at": _when(record.revoked_at),
    }


def _line(record: KeyRecord, now: float) -> str:
    notes = [f"created {_when(record.created_at)}"]
    notes += [f"expires {_when(record.expires_at)}"] if record.expires_at else []
    notes += [f"revoked {_when(record.revoked_at)}"] if record.revoked_at else []
    scopes = ",".join(record.scopes)
    return f"{record.state(now):<8} {record.id}  {scopes:<14}  {record.name}  {'; '.join(notes)}"


def _when(seconds: int | None) -> str | None:
    """`2027-01-31T00:00:00Z`."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
