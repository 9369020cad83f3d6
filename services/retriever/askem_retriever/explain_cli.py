"""`askem explain`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from askem.errors import AskemError
from askem.http import wire
from askem.http.calling import base_url, key_for, what_to_do
from askem.http.client import AskemClient, ClientError
from askem.http.fields import FieldErrors, parse_json
from askem.models import RANKINGS
from askem_retriever.settings import RetrieverSettings


@click.command()
@click.argument("question")
@click.argument("passage_id")
@click.option("--topic")
@click.option("--ranking", type=click.Choice(RANKINGS))
@click.option("--screening-top-k", type=int)
@click.option("--nearest-top-k", type=int)
@click.option("--json", "as_json", is_flag=True, help="Print the server's answer as JSON.")
@click.option("--url", envvar="ASKEM_URL", help="The server (ASKEM_URL, http://127.0.0.1:4502).")
@click.option("--api-key", envvar="ASKEM_API_KEY", help="Default: the file in the data folder.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="ASKEM_DATA_DIR, ./data.")
def explain(
    question: str,
    passage_id: str,
    topic: str | None,
    ranking: str | None,
    screening_top_k: int | None,
    nearest_top_k: int | None,
    as_json: bool,
    url: str | None,
    api_key: str | None,
    data_dir: Path | None,
) -> None:
    """Why PASSAGE_ID stands where it stands for QUESTION, or why it is not there."""
    given = {
        "question": question,
        "passage_id": passage_id,
        "topic": topic,
        "ranking": ranking,
        "screening_top_k": screening_top_k,
        "nearest_top_k": nearest_top_k,
    }
    settings = RetrieverSettings()
    url = url or base_url(settings.host, settings.port)
    try:
        request = parse_json(wire.ExplainRequest, json.dumps(given).encode())
        key = key_for(api_key, data_dir or settings.data_dir)
        with AskemClient(url, key) as client:
            answer = client.explain(request)
    except (AskemError, ClientError, FieldErrors) as error:
        raise click.ClickException(what_to_do(error, url)) from None
    if as_json:
        click.echo(answer.model_dump_json(indent=2))
    else:
        click.echo("\n".join(_lines(answer)))


def _lines(why: wire.ExplanationOut) -> list[str]:
    lines = [why.passage.passage_id, *_verdict(why)]
    if why.sparse is not None:
        lines.append(
            f"BM25 {why.sparse.bm25:.4f}, rank {why.sparse.rank or '-'}; "
            f"{why.sparse.length} content words, length norm {why.sparse.norm:.3f}"
        )
        lines += [
            f"  {term.share:7.4f}  {term.term}: {term.tf} times here, in "
            f"{term.document_frequency} passages, idf {term.idf:.3f}"
            for term in why.sparse.terms
        ]
    lines.append(
        f"distance {why.dense.distance:.4f} ({why.dense.unsteered:.4f} without steering), "
        f"rank {why.dense.rank or '-'}"
    )
    if why.ranking is not None:
        parts = ", ".join(f"{name} {value:.4g}" for name, value in why.ranking.parts.items())
        lines.append(
            f"{why.ranking.ranking} {why.ranking.score:.4f}, rank {why.ranking.rank}: {parts}"
        )
    return lines


def _verdict(why: wire.ExplanationOut) -> list[str]:
    """What keeps the passage out of the answer, if anything."""
    lines = [f"kept out by the filter {field}" for field in why.excluded_by]
    if why.beyond_distance:
        lines.append("kept out by the cut of distance")
    if why.sparse is not None and not why.sparse.screened and not why.excluded_by:
        found = "joined as one of the nearest; " if why.dense.joined else ""
        reached = f"{why.sparse.last_screened:.4f}" if why.sparse.last_screened else "nothing"
        lines.append(f"{found}not screened: the last passage that was has BM25 {reached}")
    return lines
