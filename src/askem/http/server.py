"""Runs an app with uvicorn: clean start, clean stop."""

from __future__ import annotations

import logging
import signal
import socket
import sys
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from askem.errors import AskemError, ConfigurationError
from askem.http.protocol import PatientProtocol

_GRACE_S = 10


def listen(host: str, port: int) -> socket.socket:
    """A socket that has its port and listens once it is served; port 0 takes a free one. Until
    then connections are refused, not held. Raises ConfigurationError where it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, port))
    except (OSError, OverflowError) as error:
        taken.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(
            f"cannot listen on {host}:{port}: {reason}; choose another with --port or --host"
        ) from None
    return taken


def configuration(
    app: FastAPI, protocol: type[PatientProtocol] = PatientProtocol
) -> uvicorn.Config:
    """How every app of ours is served."""
    return uvicorn.Config(
        app,
        loop="uvloop" if sys.platform != "win32" else "asyncio",
        http=protocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_S,
    )


def serve_until_stopped(
    app: FastAPI, listener: socket.socket, *, started: Callable[[], None] = lambda: None
) -> None:
    """Serves until SIGINT or SIGTERM, then finishes running requests, 10 s at most.

    `started` is called once requests are answered. Raises AskemError when the app cannot start.
    """
    server = _Server(configuration(app), started)
    # uvicorn raises the signal again when it is done; by then nothing is left to stop.
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: None) for number in signals}
    # An error of ours is raised below; its traceback would only hide it.
    logging.getLogger("uvicorn.error").addFilter(lambda _: _start_error(app) is None)
    try:
        server.run(sockets=[listener])
    except SystemExit:
        reason = _start_error(app) or ConfigurationError("it could not start: see the log above")
        raise reason from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _start_error(app: FastAPI) -> AskemError | None:
    error: AskemError | None = getattr(app.state, "start_error", None)
    return error


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()


def configure_logging(level: int = logging.INFO) -> None:
    """Log lines to standard error; those of requests are JSON already."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    access = logging.StreamHandler()
    access.setFormatter(logging.Formatter("%(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
    # A line for each request to another service would double our own.
    for chatty in ("httpx", "httpx2", "openai", "uvicorn"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # Warns of each request that failed, besides; the errors we make of them are logged already.
    logging.getLogger("elastic_transport").setLevel(logging.ERROR)
    access_log = logging.getLogger("askem.access")
    access_log.handlers, access_log.propagate = [access], False
