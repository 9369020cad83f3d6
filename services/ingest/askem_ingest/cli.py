"""`askem ingest`, `papers`, `delete` and `verify`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from askem.errors import InvalidInput
from askem.ingestion import IngestPipeline, Receipt, Summary
from askem.ingestion.files import Listing, SourceFile, list_sources, printable
from askem.ingestion.pages import list_pages
from askem.ingestion.pipeline import SourceInput
from askem.models import DOC_TYPES, DocType
from askem.text.preprocessing import PREPROCESSOR_IDS, chosen_preprocessor, get_preprocessor
from askem_ingest.settings import IngestSettings
from askem_ingest.wiring import open_components

_WANTED: dict[DocType, str] = {
    "paragraph": "<paper-id>.txt",
    "figure": "<paper-id>.<object-id>.txt",
    "section": ".md",
}

_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, a line a receipt.")


@click.command()
@click.option(
    "--input-dir", required=True, type=click.Path(path_type=Path), help="The folder to read."
)
@click.option("--topic", "topics", multiple=True, required=True, help="May be repeated.")
@click.option("--doc-type", type=click.Choice(DOC_TYPES), default="paragraph", show_default=True)
@click.option(
    "--preprocessor",
    type=click.Choice(PREPROCESSOR_IDS),
    help="How text becomes passages; papers-v1 mends what a PDF tore, paragraphs-v1 keeps the "
    "file's own paragraphs.  [default: papers-v1, figures-v1 for figures, markdown-v1 for "
    "sections]",
)
@_json_option
@click.option("--quiet", is_flag=True, help="Only failures and the summary.")
def ingest(
    input_dir: Path,
    topics: tuple[str, ...],
    doc_type: DocType,
    preprocessor: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Load <paper-id>.txt files, <paper-id>.<cosmos_object_id>.txt figures, or, as sections, the
    .md files of a folder and of all folders in it.

    Run it again at any time: what is stored is left alone, what changed is replaced, what failed
    or was cut short is done again. The exit status is 1 when any paper failed.
    """
    settings = IngestSettings()
    canonical = tuple(sorted({settings.canonical_topic(topic) for topic in topics}))
    chosen = get_preprocessor(chosen_preprocessor(doc_type, preprocessor))
    sections = doc_type == "section"
    listing = list_pages(input_dir) if sections else list_sources(input_dir, doc_type)
    _report_passed_over(listing)
    if not listing.sources:
        where = printable(str(input_dir))
        raise InvalidInput("input-dir", f"no {_WANTED[doc_type]} files in {where}")
    started = time.monotonic()
    with open_components(settings, create=True) as parts:
        pipeline = IngestPipeline(
            encoder=parts.encoder, writer=parts.writer, ledger=parts.ledger, preprocessor=chosen
        )
        receipts = []
        with click.progressbar(
            pipeline.ingest(_inputs(listing.sources, canonical)),
            length=len(listing.sources),
            label="Ingesting",
            show_eta=False,
            file=sys.stderr,
            hidden=not sys.stderr.isatty(),
        ) as progress:
            for receipt in progress:
                receipts.append(receipt)
                if as_json:
                    click.echo(json.dumps(asdict(receipt), ensure_ascii=False))
                elif not sys.stderr.isatty() and (not quiet or receipt.status == "failed"):
                    click.echo(_line(receipt))
    if sys.stderr.isatty() and not as_json:
        for receipt in receipts:
            if not quiet or receipt.status == "failed":
                click.echo(_line(receipt))
    _summarise(receipts, time.monotonic() - started, as_json=as_json)
    if any(receipt.status == "failed" for receipt in receipts):
        sys.exit(1)


def _inputs(sources: list[SourceFile], topics: tuple[str, ...]) -> Iterator[SourceInput]:
    for source in sources:
        problem, data = source.problem, b""
        if problem is None:
            try:
                data = source.path.read_bytes()
            except OSError as error:
                problem = f"cannot be read ({error.strerror})"
        yield SourceInput(source.key, data, topics, name=source.name, problem=problem)


def _report_passed_over(listing: Listing) -> None:
    for path, reason in listing.passed_over:
        click.echo(f"passed over  {printable(path.name)}: {reason}", err=True)
    if listing.hidden:
        click.echo(f"passed over  {listing.hidden} hidden .txt files", err=True)


def _line(receipt: Receipt) -> str:
    notes = [f"{receipt.passages} passages"] if receipt.passages else []
    notes += [f"{count} {kind.replace('_', ' ')} mended" for kind, count in receipt.repairs.items()]
    notes += [f"topics added: {', '.join(receipt.topics_added)}"] if receipt.topics_added else []
    notes += [receipt.reason] if receipt.reason else []
    return f"{receipt.status:<10} {receipt.source}: {'; '.join(notes)}"


def _summarise(receipts: list[Receipt], seconds: float, *, as_json: bool) -> None:
    summary = Summary.of(receipts)
    if as_json:
        click.echo(json.dumps({"summary": asdict(summary), "seconds": round(seconds, 2)}))
        return
    click.echo(
        f"{len(receipts)} files: {summary.created} created, {summary.unchanged} unchanged, "
        f"{summary.replaced} replaced, {summary.failed} failed; {summary.passages} passages "
        f"({summary.split_passages} encoded in several windows), {seconds:.1f} s"
    )


@click.command()
@click.option("--topic", help="Only papers with this topic.")
@_json_option
def papers(topic: str | None, as_json: bool) -> None:
    """List what is stored and what failed."""
    settings = IngestSettings()
    wanted = settings.canonical_topic(topic) if topic else None
    with open_components(settings) as parts:
        for entry in parts.ledger.entries():
            if wanted and wanted not in entry.topics:
                continue
            if as_json:
                click.echo(json.dumps(asdict(entry), ensure_ascii=False))
                continue
            name = ".".join(filter(None, (entry.key.paper_id, entry.key.cosmos_object_id)))
            note = f"  {entry.error}" if entry.error else ""
            if entry.error and entry.state == "complete":
                note = f"  the newer version failed, the older one is served: {entry.error}"
            click.echo(
                f"{entry.state:<9} {entry.key.doc_type:<9} {name}  {entry.passages} passages  "
                f"[{', '.join(entry.topics)}]{note}"
            )


@click.command()
@click.argument("paper_ids", metavar="PAPER_ID...", nargs=-1, required=True)
def delete(paper_ids: tuple[str, ...]) -> None:
    """Delete papers: their paragraphs, figures and sections, from both legs and the ledger."""
    missing = []
    with open_components(IngestSettings()) as parts:
        pipeline = IngestPipeline(
            encoder=parts.encoder,
            writer=parts.writer,
            ledger=parts.ledger,
            preprocessor=get_preprocessor("papers-v1"),
        )
        for paper_id in paper_ids:
            sources = pipeline.delete(paper_id)
            if sources:
                click.echo(f"deleted    {paper_id}: {sources} files' passages")
            else:
                missing.append(paper_id)
    if missing:
        raise InvalidInput("PAPER_ID", f"not known: {', '.join(missing)} (see `askem papers`)")


@click.command()
@click.option("--repair", is_flag=True, help="Mend what differs.")
@click.option(
    "--delete-most",
    is_flag=True,
    help="Let a repair delete more than half of what an engine holds; for servers.",
)
@_json_option
def verify(repair: bool, delete_most: bool, as_json: bool) -> None:
    """Check that ledger, database, sparse index and vectors hold the same passages.

    The exit status is 1 when they differ and were not mended.
    """
    with open_components(IngestSettings(), delete_most=delete_most) as parts:
        report = parts.verifier.repair() if repair else parts.verifier.check()
    if as_json:
        click.echo(json.dumps(asdict(report)))
    else:
        for finding in report.findings:
            click.echo(finding)
        click.echo(
            f"{report.sources} sources, {report.passages} passages, "
            f"{report.sparse} in the sparse index, {report.dense} with sound vectors: "
            + ("all agree" if report.agrees else "they differ; run `askem verify --repair`")
        )
    sys.exit(0 if report.agrees else 1)
