"""`askem ask`: a question, its answer as it comes, and the sources."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from pathlib import Path

import click

from askem.errors import AskemError
from askem.http.answers import PassageOut
from askem.http.calling import base_url, key_for, what_to_do
from askem.http.exchange import ClientError
from askem.http.fields import FieldErrors, parse_json
from askem.text.decoding import clean
from askem_agent.client import AgentClient, Event
from askem_agent.settings import AgentSettings
from askem_agent.wire import (
    ObservationEvent,
    ReactRequest,
    ReactResponse,
    SentenceOut,
    StepEvent,
    TokenEvent,
)

REFUSED = 3
"""Exit status where there was no answer."""
_QUOTE_CHARS = 600


@click.command()
@click.argument("question")
@click.option("--topic", help="Only papers of this topic.")
@click.option("--top-k", type=int, help="Passages a search brings.")
@click.option("--model", help="One of the server's models; its default otherwise.")
@click.option("--json", "as_json", is_flag=True, help="Print the server's answer as JSON.")
@click.option("--url", envvar="ASKEM_URL", help="The server (ASKEM_URL, http://127.0.0.1:4502).")
@click.option("--api-key", envvar="ASKEM_API_KEY", help="Default: the file in the data folder.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="ASKEM_DATA_DIR, ./data.")
def ask(
    question: str,
    topic: str | None,
    top_k: int | None,
    model: str | None,
    as_json: bool,
    url: str | None,
    api_key: str | None,
    data_dir: Path | None,
) -> None:
    """Answer QUESTION from the literature, each sentence with its source.

    Searches are told on standard error, the answer goes to standard output. The exit status is 3
    when there is no answer.
    """
    settings = AgentSettings()
    url = url or base_url(settings.host, settings.port)
    given = {"question": question, "topic": topic, "top_k": top_k, "model_name": model}
    try:
        # As JSON, which knows what a field may be; absent options are absent there too.
        body = json.dumps({name: value for name, value in given.items() if value is not None})
        request = parse_json(ReactRequest, body.encode())
        with AgentClient(url, key_for(api_key, data_dir or settings.data_dir)) as client:
            answer = client.react(request) if as_json else _told(client, request)
    except (AskemError, ClientError, FieldErrors) as error:
        raise click.ClickException(_safe(what_to_do(error, url))) from None
    if as_json:
        # ASCII: what a terminal would obey is written out.
        click.echo(json.dumps(answer.model_dump(mode="json"), indent=2))
    else:
        _print_sources(answer)
    sys.exit(REFUSED if answer.refused else 0)


def _told(client: AgentClient, request: ReactRequest) -> ReactResponse:
    """The answer, after its steps and words were printed as they came."""
    answer: ReactResponse | None = None
    for event in client.events(request):
        _tell(event)
        if isinstance(event.data, ReactResponse):
            answer = event.data
    _say()
    # The client raises where a stream has no answer.
    assert answer is not None  # noqa: S101
    return answer


def _tell(event: Event) -> None:
    match event.data:
        case StepEvent(query=query):
            _say(f"Searching: {query}", err=True)
        case ObservationEvent(step=step):
            note = f" ({step.note})" if step.note else ""
            _say(f"  {step.hits} passages, {step.new} new, {step.ms:.0f} ms{note}", err=True)
        case TokenEvent(text=text):
            _say(text, nl=False)
            sys.stdout.flush()


def _print_sources(answer: ReactResponse) -> None:
    width = min(shutil.get_terminal_size().columns, 100)
    for repair in answer.repairs:
        _say(f"{repair.word} was read as {repair.read_as}.")
    for number, doc in enumerate(answer.used_docs, 1):
        _say(f"\n[{number}] {doc.paper_id}  {doc.passage_id}")
        for sentence in answer.sentences:
            _print_quotes(doc, sentence, width)
    if answer.found_instead:
        _say("\nNearest in the corpus, without being an answer:")
    for doc in answer.found_instead:
        _say(f"  {doc.paper_id}  {doc.passage_id}")
        _say(_wrapped(doc.text, width))
    for line in _remarks(answer):
        _say(f"\n{line}")


def _print_quotes(doc: PassageOut, sentence: SentenceOut, width: int) -> None:
    for citation in sentence.citations:
        if citation.passage_id == doc.passage_id:
            _say(_wrapped(f"“{citation.quote}”", width))
            if sentence.verdict != "found in source":
                missing = "; ".join(sentence.missing)
                _say(f"    {sentence.verdict}: {missing}")


def _remarks(answer: ReactResponse) -> list[str]:
    remarks = []
    if answer.confidence or answer.confidence_basis:
        basis = f": {answer.confidence_basis}" if answer.confidence_basis else ""
        remarks.append(f"Confidence {answer.confidence or 'unknown'}{basis}")
    if answer.stopped:
        remarks.append(f"Stopped early by the limit of {answer.stopped}.")
    if answer.dropped:
        remarks.append(f"Left out, since their source does not have them: {answer.dropped}.")
    return remarks


def _wrapped(text: str, width: int) -> str:
    short = textwrap.shorten(text, _QUOTE_CHARS, placeholder=" …")
    return textwrap.fill(short, width, initial_indent="    ", subsequent_indent="    ")


def _say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Everything that comes from a server is printed here."""
    click.echo(_safe(text), err=err, nl=nl)


def _safe(text: str) -> str:
    """`text` without what a terminal would obey instead of showing it."""
    return clean(text).text.replace("\f", "\n")
