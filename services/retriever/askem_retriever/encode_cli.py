"""`askem encode-serve`."""

from __future__ import annotations

import logging
import shlex
import socket
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import click
from fastapi import FastAPI

from askem.http import server
from askem.http.keyfile import LocalKey, local_key
from askem.ports import LocalEncoder
from askem_retriever import embeddings
from askem_retriever.settings import EncodeServerSettings


@click.command("encode-serve")
@click.option("--host", help="Address to listen on (ASKEM_ENCODE_HOST, 127.0.0.1).")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="Port (ASKEM_ENCODE_PORT, 4505); 0: any."
)
@click.option("--data-dir", type=click.Path(path_type=Path), help="Where the key is kept.")
@click.option("--quiet", is_flag=True, help="No log line for each request.")
def encode_serve(host: str | None, port: int | None, data_dir: Path | None, quiet: bool) -> None:
    """Serve the configured encoder as /v1/embeddings until Ctrl-C."""
    settings = EncodeServerSettings()
    server.configure_logging()
    if quiet:
        logging.getLogger("askem.access").setLevel(logging.WARNING)
    given = settings.api_key.get_secret_value() if settings.api_key else None
    key = local_key(data_dir or settings.data_dir, given)
    app = embeddings.create_app(settings, key.value, lambda: _encoder(settings))
    place = host or settings.encode_host
    listener = server.listen(place, settings.encode_port if port is None else port)
    actual = listener.getsockname()[1]
    server.serve_until_stopped(app, listener, started=lambda: _greet(app, place, actual, key))
    click.echo("Stopped.")


def _encoder(settings: EncodeServerSettings) -> AbstractContextManager[LocalEncoder]:
    # Models are not needed before there is something to serve.
    from askem_retriever.wiring import local_encoder

    return local_encoder(settings)


def _greet(app: FastAPI, host: str, port: int, key: LocalKey) -> None:
    state: embeddings.State = getattr(app.state, embeddings.NAME)
    name = f"[{host}]" if ":" in host else host
    click.echo(f"The encoder answers at http://{name}:{port}/v1. Ctrl-C stops it.")
    click.echo("Clients set (elsewhere, put the key itself in the last line):")
    for line in client_settings(state.encoder, host, port, key):
        click.echo(line)
    sys.stdout.flush()


def client_settings(encoder: LocalEncoder, host: str, port: int, key: LocalKey) -> list[str]:
    """Lines to paste into a shell of this machine. The key is named, not shown: what is printed
    ends up in logs."""
    # An address to listen on everywhere is none to connect to.
    name = socket.gethostname() if host in ("0.0.0.0", "::") else host  # noqa: S104 - compared
    values = {
        "ASKEM_ENCODER": "remote",
        "ASKEM_EMBEDDINGS_URL": f"http://{f'[{name}]' if ':' in name else name}:{port}/v1",
        "ASKEM_EMBEDDINGS_MODEL": encoder.encoder_id,
        "ASKEM_EMBEDDINGS_DIMENSION": str(encoder.dimension),
        "ASKEM_EMBEDDINGS_WINDOW_TOKENS": str(encoder.window_tokens),
        "ASKEM_EMBEDDINGS_INPUT_TYPE": "true",
    }
    lines = [f"export {setting}={shlex.quote(value)}" for setting, value in values.items()]
    file = key.path and f"$(cat {shlex.quote(str(key.path.absolute()))})"
    return [*lines, f'export ASKEM_EMBEDDINGS_KEY="{file or "$ASKEM_API_KEY"}"']
