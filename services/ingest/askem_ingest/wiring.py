"""The one file that names adapters: settings to the library's objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from askem.encoders import open_encoder
from askem.ports import Encoder, Ledger, PassageReader, PassageWriter
from askem.stores.embedded import EmbeddedStore
from askem.stores.embedded.verify import EmbeddedVerifier
from askem_ingest.settings import IngestSettings


@dataclass(frozen=True, slots=True)
class Components:
    encoder: Encoder
    writer: PassageWriter
    ledger: Ledger
    reader: PassageReader
    verifier: EmbeddedVerifier


@contextmanager
def open_components(settings: IngestSettings) -> Iterator[Components]:
    """Opens encoder and store, closes them in reverse. Raises ConfigurationError."""
    encoder = open_encoder(settings, threads=settings.encoder_threads)
    store = EmbeddedStore.open(settings.data_dir, encoder)
    try:
        yield Components(
            encoder, store.writer, store.ledger, store.reader, EmbeddedVerifier(store, encoder)
        )
    finally:
        store.close()
        encoder.close()
