"""Indexes for runs: made from scratch for each corpus, preprocessor and encoder, then kept."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from askem import __version__
from askem.encoders import load_encoder
from askem.errors import AskemError, ConfigurationError
from askem.evaluation.config import CorpusPart, RunConfig
from askem.evaluation.corpora import Batch, fingerprint, preprocessor_of, read_corpus
from askem.ingestion.pipeline import IngestPipeline
from askem.ports import Encoder, Reranker
from askem.rerankers import open_reranker as load_reranker
from askem.stores.embedded import EmbeddedStore
from askem.testing.fakes import FakeEncoder
from askem.text.analysis import ANALYZER_ID

HASH_ENCODER = "hash"
_HASH_DIMENSION = 256
COMPLETE = "complete"
"""File that stands in the folder of a whole index."""

Progress = Callable[[str], None]


class IncompleteIndex(AskemError):
    """A source of the corpus could not be stored: what is measured would not be what is named."""


@dataclass(frozen=True, slots=True)
class Index:
    """An open index and what it was made with."""

    store: EmbeddedStore
    encoder: Encoder
    fingerprint: str
    folder: Path
    """A data folder, once the file that says that it is complete is left out."""
    reranker: Reranker | None = None


@contextmanager
def open_index(
    parts: tuple[CorpusPart, ...], base: Path, config: RunConfig, cache: Path, progress: Progress
) -> Iterator[Index]:
    """The index of a corpus under a configuration, made where the cache has none. Blocks.

    Raises InvalidInput, ConfigurationError, IncompleteIndex.
    """
    batches = read_corpus(parts, base, config)
    with closing(open_encoder(config.encoder)) as encoder:
        name = fingerprint(batches, encoder.encoder_id, ANALYZER_ID, __version__)
        folder = cache / "index" / name[:24]
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            if not (folder / COMPLETE).exists():
                # What an interrupted run left is not trusted.
                shutil.rmtree(folder, ignore_errors=True)
                _build(batches, folder, encoder, progress)
                (folder / COMPLETE).touch()
        with EmbeddedStore.open(folder, encoder) as store:
            yield Index(store, encoder, name, folder, open_reranker(config))


def open_encoder(spec: str, *, threads: int = 2) -> Encoder:
    """The encoder a configuration names. Raises ConfigurationError."""
    if spec == HASH_ENCODER:
        return FakeEncoder(_HASH_DIMENSION)
    return load_encoder(spec, threads=threads)


def reranker_named() -> str | None:
    """What ASKEM_RERANKER says; rows with a reranker are run where it says something."""
    return os.environ.get("ASKEM_RERANKER") or None


def open_reranker(config: RunConfig) -> Reranker | None:
    """The configured reranker, for rows that ask for one. Raises ConfigurationError."""
    spec = reranker_named()
    if not config.rerank_top_k:
        return None
    if spec is None:
        raise ConfigurationError(f"{config.name}: set ASKEM_RERANKER, this row needs a reranker")
    return load_reranker(spec, revision=os.environ.get("ASKEM_RERANKER_REVISION"))


def _build(batches: list[Batch], folder: Path, encoder: Encoder, progress: Progress) -> None:
    total = sum(len(batch.sources) for batch in batches)
    done = 0
    with EmbeddedStore.open(folder, encoder) as store:
        for batch in batches:
            pipeline = IngestPipeline(
                encoder=encoder,
                writer=store.writer,
                ledger=store.ledger,
                preprocessor=preprocessor_of(batch.preprocessor_id),
            )
            for receipt in pipeline.ingest(batch.sources):
                if receipt.status == "failed":
                    raise IncompleteIndex(f"{receipt.source}: {receipt.reason}")
                done += 1
                progress(f"indexed {done} of {total}")
