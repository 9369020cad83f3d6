"""The one file that names adapters: settings to the library's objects."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from askem.encoders import open_encoder
from askem.errors import AskemError, BackendUnavailable, ConfigurationError, InvalidInput
from askem.ports import Encoder, Ledger, PassageReader, PassageWriter
from askem.stores.embedded import EmbeddedStore
from askem.stores.embedded.verify import EmbeddedVerifier
from askem.stores.report import VerifyReport
from askem_ingest import state
from askem_ingest.settings import IngestSettings

if TYPE_CHECKING:
    from askem.stores.servers import ServerStore
    from askem.stores.servers.migrate import Migration

_TIMEOUT_S = 30.0
_log = logging.getLogger("askem.ingest")


class Verifier(Protocol):
    """Compares what is held where; `repair` mends it first."""

    def check(self) -> VerifyReport: ...

    def repair(self) -> VerifyReport: ...


@dataclass(frozen=True, slots=True)
class Components:
    encoder: Encoder
    writer: PassageWriter
    ledger: Ledger
    reader: PassageReader
    verifier: Verifier


@contextmanager
def open_components(
    settings: IngestSettings, *, create: bool = False, delete_most: bool = False
) -> Iterator[Components]:
    """Opens encoder and store, closes them in reverse. Raises ConfigurationError, also where
    there is no store yet and `create` does not ask for one. `delete_most`: a repair of servers
    may delete more than half of what one of them holds."""
    encoder = open_encoder(settings, threads=settings.encoder_threads)
    with ExitStack() as stack:
        stack.callback(encoder.close)
        if settings.stores == "embedded":
            if not create and not EmbeddedStore.exists(settings.data_dir):
                raise ConfigurationError(
                    f"ASKEM_DATA_DIR: nothing has been ingested into {settings.data_dir} yet"
                )
            embedded = stack.enter_context(EmbeddedStore.open(settings.data_dir, encoder))
            verifier = EmbeddedVerifier(embedded, encoder)
            yield Components(encoder, embedded.writer, embedded.ledger, embedded.reader, verifier)
        else:
            servers = stack.enter_context(open_servers(settings, encoder))
            if not create and not servers.schema.index_versions():
                raise ConfigurationError(
                    f"ASKEM_INDEX: nothing has been ingested into {settings.index} yet"
                )
            checker = _verifier(servers, encoder, delete_most=delete_most)
            yield Components(encoder, servers.writer, servers.ledger, servers.reader, checker)


def open_servers(settings: IngestSettings, encoder: Encoder) -> ServerStore:
    """Both engines, waited for as one waits when nobody else does."""
    # Brings both engines' clients with it.
    from askem.stores.servers import ServerStore

    return ServerStore.configured(settings, encoder, timeout_s=_TIMEOUT_S)


@contextmanager
def open_schema(settings: IngestSettings) -> Iterator[ServerStore]:
    """The server store alone. Raises InvalidInput where the embedded one is configured."""
    if settings.stores != "servers":
        raise InvalidInput("ASKEM_STORES", "only servers have a schema of their own")
    with ExitStack() as stack:
        encoder = stack.enter_context(closing(open_encoder(settings, threads=1)))
        yield stack.enter_context(open_servers(settings, encoder))


def migrate_schema(store: ServerStore, *, drop_old: bool) -> Migration:
    from askem.stores.servers.migrate import migrate

    return migrate(store, drop_old=drop_old)


def _verifier(store: ServerStore, encoder: Encoder, *, delete_most: bool) -> Verifier:
    from askem.stores.servers.verify import ServerVerifier

    return ServerVerifier(store, encoder, delete_most=delete_most)


@contextmanager
def open_service(settings: IngestSettings) -> Iterator[state.Components]:
    """Opens what the service over HTTP needs, closes it in reverse. Raises ConfigurationError."""
    with ExitStack() as stack:
        encoder = stack.enter_context(
            closing(open_encoder(settings, threads=settings.encoder_threads))
        )
        ingesting, deleting = (_open_store(settings, encoder, stack) for _ in range(2))
        if settings.stores == "servers":
            stopped = threading.Event()
            stack.callback(stopped.set)
            threading.Thread(
                target=_make_schema, args=(ingesting.writer, stopped), daemon=True
            ).start()
        yield state.Components(
            encoder,
            ingesting=state.Access(ingesting.writer, ingesting.ledger),
            deleting=state.Access(deleting.writer, deleting.ledger),
        )


def _make_schema(writer: PassageWriter, stopped: threading.Event) -> None:
    """So that retrievers are ready before anything was ingested; once the engines answer."""
    while not stopped.is_set():
        try:
            with writer.exclusive():
                return
        except BackendUnavailable as error:
            _log.warning("the schema cannot be made yet: %s", error)
            stopped.wait(2)
        except AskemError as error:
            _log.error("the schema is not usable: %s", error)
            return


def _open_store(
    settings: IngestSettings, encoder: Encoder, stack: ExitStack
) -> EmbeddedStore | ServerStore:
    if settings.stores == "servers":
        return stack.enter_context(open_servers(settings, encoder))
    return stack.enter_context(EmbeddedStore.open(settings.data_dir, encoder))
