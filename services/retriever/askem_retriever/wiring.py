"""The one file that names adapters: settings to the library's objects."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

from askem.encoders import open_encoder
from askem.encoders.configured import REMOTE, open_local_encoder
from askem.errors import ConfigurationError
from askem.http.health import Probe
from askem.ports import Encoder, LocalEncoder
from askem.rerankers import open_reranker
from askem.retrieval.reranking import Reranking
from askem.retrieval.retriever import Retriever
from askem.stores.embedded import EmbeddedStore
from askem_retriever.readiness import encoder_probe, store_probe
from askem_retriever.settings import RetrieverSettings
from askem_retriever.state import Components

if TYPE_CHECKING:
    from askem.stores.servers import ServerStore


@contextmanager
def open_components(settings: RetrieverSettings) -> Iterator[Components]:
    """Opens encoder and store, closes them in reverse. Blocks.

    Raises ConfigurationError (a missing model, one that is no reranker, a data folder that is not
    usable, EncoderMismatch), BackendUnavailable.
    """
    with ExitStack() as stack:
        # Questions are encoded one by one, in the threads that ask.
        encoder = stack.enter_context(closing(open_encoder(settings, threads=1)))
        store, stores_probes = _open_store(settings, encoder, stack)
        # Not the pool that runs searches: each of them waits for its own encoding.
        encoding = stack.enter_context(
            ThreadPoolExecutor(settings.workers, thread_name_prefix="askem-question")
        )
        yield Components(
            retriever=Retriever(
                encoder=encoder,
                sparse=store.sparse,
                dense=store.dense,
                reader=store.reader,
                executor=encoding,
                reranking=_reranking(settings),
            ),
            reader=store.reader,
            encoder_id=encoder.encoder_id,
            probes=[encoder_probe(encoder), *stores_probes],
        )


def _reranking(settings: RetrieverSettings) -> Reranking | None:
    if not settings.reranker:
        return None
    reranker = open_reranker(settings.reranker, revision=settings.reranker_revision)
    logging.getLogger("askem.retriever").info("reranker %s", reranker.reranker_id)
    return Reranking(reranker, settings.rerank_budget_ms)


def _open_store(
    settings: RetrieverSettings, encoder: Encoder, stack: ExitStack
) -> tuple[EmbeddedStore | ServerStore, list[Probe]]:
    if settings.stores == "embedded":
        embedded = stack.enter_context(EmbeddedStore.open(settings.data_dir, encoder))
        return embedded, [store_probe(embedded.reader)]
    # Brings both engines' clients with it.
    from askem.stores.servers import ServerStore

    servers = stack.enter_context(
        ServerStore.configured(settings, encoder, timeout_s=settings.engine_timeout_s)
    )
    return servers, [
        Probe("elasticsearch", servers.schema.check_index),
        Probe("weaviate", servers.schema.probe_collection),
        Probe("schema", servers.schema.probe_sides),
        store_probe(servers.reader),
    ]


@contextmanager
def local_encoder(settings: RetrieverSettings) -> Iterator[LocalEncoder]:
    """The encoder to be served to others. Blocks. Raises ConfigurationError."""
    if settings.encoder == REMOTE:
        raise ConfigurationError(
            "ASKEM_ENCODER=remote cannot be served on: name a model of this machine"
        )
    with closing(open_local_encoder(settings, threads=settings.encoder_threads)) as encoder:
        yield encoder
