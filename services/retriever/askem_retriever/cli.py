"""`askem serve` and `askem search`."""

from __future__ import annotations

import json
import logging
import shlex
import shutil
import sys
import textwrap
from pathlib import Path
from typing import get_args

import click
from pydantic import SecretStr, ValidationError

from askem.errors import AskemError, ConfigurationError
from askem.http import server, wire
from askem.http.client import AskemClient, ClientError, Unauthorized, Unavailable
from askem.http.compose import Host, build_app, installed_services
from askem.http.fields import FieldErrors, parse_json
from askem.http.keyfile import LocalKey, key_path, local_key, read_key
from askem.http.keyformat import looks_mistyped
from askem.http.keyring import Keyring
from askem.http.keywatch import KeyringWatch
from askem.models import DOC_TYPES, RANKINGS
from askem_retriever.settings import RetrieverSettings

_EXAMPLE = '{"question": "What is SIDARTHE model?"}'


def _settings() -> RetrieverSettings:
    try:
        return RetrieverSettings()
    except ValidationError as error:
        lines = (f"ASKEM_{e['loc'][0]}".upper() + f": {e['msg']}" for e in error.errors())
        raise click.ClickException("; ".join(lines)) from None


@click.command()
@click.option("--host", help="Address to listen on (ASKEM_HOST, 127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port (ASKEM_PORT, 4502); 0: any.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="ASKEM_DATA_DIR, ./data.")
@click.option("--services", help="Names with commas between (ASKEM_SERVICES); all installed.")
@click.option("--show-key", is_flag=True, help="Print the API key, and a request to paste.")
@click.option("--quiet", is_flag=True, help="No log line for each request.")
def serve(
    host: str | None,
    port: int | None,
    data_dir: Path | None,
    services: str | None,
    show_key: bool,
    quiet: bool,
) -> None:
    """Answer questions over HTTP until Ctrl-C."""
    settings = _settings()
    host, data_dir = host or settings.host, data_dir or settings.data_dir
    server.configure_logging()
    if quiet:
        logging.getLogger("askem.access").setLevel(logging.WARNING)
    try:
        keyring = KeyringWatch(Keyring(data_dir))
        key = local_key(data_dir, _secret(settings.api_key), keyring)
        listener = server.listen(host, settings.port if port is None else port)
        url = _url(host, listener.getsockname()[1])
        home = Host(data_dir=data_dir, base_url=url, api_key=key.value)
        chosen = installed_services(home, _names(services, settings))
        app = build_app(chosen, api_keys=[key.value], keyring=keyring)
        # A terminal has one reader, and a new key has to be seen once; logs are read by many.
        reveal = not key.internal and (show_key or key.created or sys.stdout.isatty())
        server.serve_until_stopped(app, listener, started=lambda: _greet(url, key, reveal))
    except AskemError as error:
        raise click.ClickException(str(error)) from None
    click.echo("Stopped.")


def _names(given: str | None, settings: RetrieverSettings) -> list[str]:
    text = settings.services if given is None else given
    return [name for part in text.split(",") if (name := part.strip())]


def _secret(value: SecretStr | None) -> str | None:
    return value.get_secret_value() if value else None


def _url(host: str, port: int) -> str:
    # Nobody can call "any address"; the same machine can call itself.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - not bound here
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _greet(url: str, key: LocalKey, reveal: bool) -> None:
    click.echo(f"Askem answers at {url} (API: {url}/openapi.json). Ctrl-C stops it.")
    internal = "those of the keyring (askem keys list)"
    click.echo(f"API key: {internal if key.internal else key.path or 'ASKEM_API_KEY'}")
    if reveal:
        click.echo(f"  {key.value}\nTry:")
        click.echo(
            f"  curl -s {url}/hybrid -H {shlex.quote(f'Api-Key: {key.value}')} "
            f"-H 'Content-Type: application/json' -d '{_EXAMPLE}'"
        )
    sys.stdout.flush()


@click.command()
@click.argument("question")
@click.option("--top-k", type=int, default=5, show_default=True)
@click.option("--topic")
@click.option("--doc-type", type=click.Choice(DOC_TYPES))
@click.option("--ranking", type=click.Choice(RANKINGS))
@click.option("--mode", type=click.Choice(get_args(wire.Mode)), default="hybrid", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the server's answer as JSON.")
@click.option("--url", envvar="ASKEM_URL", help="The server (ASKEM_URL, http://127.0.0.1:4502).")
@click.option("--api-key", envvar="ASKEM_API_KEY", help="Default: the file in the data folder.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="ASKEM_DATA_DIR, ./data.")
def search(
    question: str,
    top_k: int,
    topic: str | None,
    doc_type: str | None,
    ranking: str | None,
    mode: str,
    as_json: bool,
    url: str | None,
    api_key: str | None,
    data_dir: Path | None,
) -> None:
    """Find the passages that answer QUESTION."""
    settings = _settings()
    url = url or _url(settings.host, settings.port)
    given = {
        "question": question,
        "top_k": top_k,
        "topic": topic,
        "doc_type": doc_type,
        "ranking": ranking,
        "mode": mode,
    }
    try:
        request = parse_json(wire.SearchRequest, json.dumps(given).encode())
        key = api_key or read_key(key_path(data_dir or settings.data_dir))
        if looks_mistyped(key):
            raise ConfigurationError("the API key is mistyped: its checksum does not fit")
        with AskemClient(url, key) as client:
            answer = client.search(request)
    except (AskemError, ClientError, FieldErrors) as error:
        raise click.ClickException(_what_to_do(error, url)) from None
    if as_json:
        click.echo(answer.model_dump_json(indent=2))
    else:
        _print_hits(answer)


def _what_to_do(error: Exception, url: str) -> str:
    match error:
        case Unauthorized():
            return f"{url} refuses the API key: give the right one with --api-key or ASKEM_API_KEY"
        case Unavailable():
            return f"{url} does not answer ({error}): is `askem serve` running there?"
        case ClientError():
            return f"{url}: {error}"
        case FieldErrors():
            return "; ".join(
                f"{field.replace('_', '-')}: {message}" for field, message in error.errors
            )
    return f"{error} (or give it with --api-key or ASKEM_API_KEY)"


def _print_hits(answer: wire.SearchResponse) -> None:
    if not answer.hits:
        click.echo("Nothing found.")
    width = min(shutil.get_terminal_size().columns, 100)
    for number, hit in enumerate(answer.hits, 1):
        click.echo(
            f"{number}. {hit.paper_id}  {hit.passage_id}  "
            f"score {hit.score:.3f}"
            + ("" if hit.distance is None else f"  distance {hit.distance:.3f}")
        )
        click.echo(textwrap.fill(hit.text, width, initial_indent="   ", subsequent_indent="   "))
    if answer.degraded:
        click.echo(f"Without {', '.join(answer.degraded)}, which cannot answer now.")
    for repair in answer.repairs:
        click.echo(f"Not in the corpus: {repair.word}; read as {repair.read_as}")
    if answer.unknown_terms:
        click.echo(f"Not in the corpus: {', '.join(answer.unknown_terms)}")
