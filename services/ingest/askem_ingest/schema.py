"""`askem schema create | status | migrate | prune`: the engines' indexes and collections."""

from __future__ import annotations

import click

from askem_ingest.settings import IngestSettings
from askem_ingest.wiring import migrate_schema, open_schema


@click.group()
def schema() -> None:
    """The index in Elasticsearch and the collection in Weaviate (ASKEM_STORES=servers)."""


@schema.command()
@click.option(
    "--version",
    type=click.IntRange(min=1),
    help="Point both aliases at this version, if they differ.",
)
def create(version: int | None) -> None:
    """Make both sides where they are missing, set a lost alias back; `askem ingest` does so too."""
    with open_schema(IngestSettings()) as store:
        made = store.schema.create(version)
        store.schema.check()
        elastic, vectors = store.schema.status()
    click.echo(
        f"both sides are on version {made}: {elastic.count} passages in Elasticsearch, "
        f"{vectors.count} windows in Weaviate"
    )
    if elastic.count and not vectors.count:
        click.echo("Weaviate's half is empty: run `askem verify --repair`")


@schema.command()
def status() -> None:
    """Versions, counts, encoder and dimension. The exit status is 1 when the sides differ."""
    with open_schema(IngestSettings()) as store:
        sides = dict(zip(("elasticsearch", "weaviate"), store.schema.status(), strict=True))
        names = {"elasticsearch": store.names.base, "weaviate": store.names.collection_alias}
        configured = store.schema.encoder_id
    for engine, side in sides.items():
        meta = side.meta
        what = "passages" if engine == "elasticsearch" else "windows"
        current = "missing" if side.current is None else f"version {side.current}"
        click.echo(
            f"{engine:<14} alias {names[engine]} -> {current}; versions "
            f"{', '.join(map(str, side.versions)) or 'none'}; {side.count} {what}; schema "
            f"{meta.get('schema_version', '-')}, encoder {meta.get('encoder_id', '-')}, "
            f"dimension {meta.get('dimension', '-')}"
        )
    first, second = sides.values()
    if (
        first.current is None
        or first.current != second.current
        or first.meta.get("encoder_id") != second.meta.get("encoder_id")
    ):
        raise click.ClickException("the sides differ: run `askem schema create`")
    if first.meta.get("encoder_id") != configured:
        raise click.ClickException(f"ASKEM_ENCODER is {configured}, the index another's")


@schema.command()
@click.option("--drop-old", is_flag=True, help="Delete the old version afterwards.")
def migrate(drop_old: bool) -> None:
    """Copy everything into a new version and move the aliases to it, while all goes on."""
    with open_schema(IngestSettings()) as store:
        done = migrate_schema(store, drop_old=drop_old)
    click.echo(
        f"version {done.old} -> {done.new}: {done.passages} passages, {done.windows} windows; "
        f"{done.changed_meanwhile} sources changed meanwhile"
        + ("" if drop_old else f"; version {done.old} is kept, `askem schema prune` deletes it")
    )


@schema.command()
def prune() -> None:
    """Delete the versions that no alias names."""
    with open_schema(IngestSettings()) as store:
        dropped = store.schema.prune()
    click.echo(f"deleted: {', '.join(f'version {n}' for n in dropped) or 'nothing'}")
