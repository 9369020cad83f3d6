"""The one file that names adapters: settings to the library's objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

from askem.encoders import open_encoder
from askem.errors import ConfigurationError
from askem.ports import Encoder, Ledger, PassageReader, PassageWriter
from askem.stores.embedded import EmbeddedStore
from askem.stores.embedded.verify import EmbeddedVerifier
from askem_ingest import state
from askem_ingest.settings import IngestSettings


@dataclass(frozen=True, slots=True)
class Components:
    encoder: Encoder
    writer: PassageWriter
    ledger: Ledger
    reader: PassageReader
    verifier: EmbeddedVerifier


@contextmanager
def open_components(settings: IngestSettings, *, create: bool = False) -> Iterator[Components]:
    """Opens encoder and store, closes them in reverse. Raises ConfigurationError, also where
    there is no store yet and `create` does not ask for one."""
    encoder = open_encoder(settings, threads=settings.encoder_threads)
    if not create and not EmbeddedStore.exists(settings.data_dir):
        raise ConfigurationError(
            f"ASKEM_DATA_DIR: nothing has been ingested into {settings.data_dir} yet"
        )
    store = EmbeddedStore.open(settings.data_dir, encoder)
    try:
        yield Components(
            encoder, store.writer, store.ledger, store.reader, EmbeddedVerifier(store, encoder)
        )
    finally:
        store.close()
        encoder.close()


@contextmanager
def open_service(settings: IngestSettings) -> Iterator[state.Components]:
    """Opens what the service over HTTP needs, closes it in reverse. Raises ConfigurationError."""
    with ExitStack() as stack:
        encoder = stack.enter_context(
            closing(open_encoder(settings, threads=settings.encoder_threads))
        )
        ingesting, deleting = (
            stack.enter_context(EmbeddedStore.open(settings.data_dir, encoder)) for _ in range(2)
        )
        yield state.Components(
            encoder,
            ingesting=state.Access(ingesting.writer, ingesting.ledger),
            deleting=state.Access(deleting.writer, deleting.ledger),
        )
