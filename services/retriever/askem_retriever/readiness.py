"""What must work before the retriever can answer."""

from __future__ import annotations

from askem.http.health import Probe
from askem.ports import Encoder, PassageReader


def probes(encoder: Encoder, reader: PassageReader) -> list[Probe]:
    """Readiness: the encoder encodes, the store reads. An empty corpus is a remark, no failure."""

    def encodes() -> str:
        encoder.encode_question("ready?")
        return f"{encoder.encoder_id}, {encoder.dimension} dimensions"

    def reads() -> str:
        snapshot = reader.snapshot()
        if not snapshot.passages:
            return "the corpus is empty: add papers with `askem ingest`"
        return f"{snapshot.papers} papers, {snapshot.passages} passages"

    return [Probe("encoder", encodes), Probe("store", reads)]
