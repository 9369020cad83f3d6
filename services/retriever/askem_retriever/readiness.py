"""What must work before the retriever can answer."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from askem.http.health import Probe
from askem.ports import Encoder, PassageReader


@runtime_checkable
class Remote(Protocol):
    """An encoder elsewhere."""

    def ping(self) -> None:
        """Raises where it does not encode now; soon, where nobody answers."""


def encoder_probe(encoder: Encoder) -> Probe:
    """Readiness of the encoder: it encodes."""

    def encodes() -> str:
        if isinstance(encoder, Remote):
            encoder.ping()
        else:
            # Not as a question: those are cached.
            encoder.encode_passages(["ready?"])
        return f"{encoder.encoder_id}, {encoder.dimension} dimensions"

    return Probe("encoder", encodes)


def probes(encoder: Encoder, reader: PassageReader) -> list[Probe]:
    """Readiness of a service whose store is one piece."""
    return [encoder_probe(encoder), store_probe(reader)]


def store_probe(reader: PassageReader) -> Probe:
    """Readiness of the store: it reads. An empty corpus is a remark, no failure."""

    def reads() -> str:
        snapshot = reader.snapshot()
        if not snapshot.passages:
            return "the corpus is empty: add papers with `askem ingest`"
        return f"{snapshot.papers} papers, {snapshot.passages} passages"

    return Probe("store", reads)
