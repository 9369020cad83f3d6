"""Weaviate killed in the middle of a write: nothing may be stored and not found."""

from __future__ import annotations

import random
import threading
import time

import pytest
from tests.servers.conftest import OpenStore
from tests.servers.control import control

from askem.ports import StoredCounts
from askem.stores.servers.names import source_text
from askem.testing.contract import make_source
from askem.testing.fakes import FakeEncoder

pytestmark = pytest.mark.servers

SOURCES, PASSAGES, WORDS = 40, 25, 30


def test_what_a_killed_weaviate_had_half_written_is_found_in_the_end(
    open_store: OpenStore,
) -> None:
    """Written again, an unchanged object is skipped and stays out of the vector index."""
    encoder = FakeEncoder(384, window=12)
    drawn = random.Random(7)

    def text() -> str:
        return " ".join(f"w{drawn.randrange(3000)}" for _ in range(WORDS))

    sources = [
        make_source(f"paper-{i}", [text() for _ in range(PASSAGES)], encoder)
        for i in range(SOURCES)
    ]
    store = open_store(encoder)
    store.schema.create()

    def crash() -> None:
        # In the middle of the objects: writing starts with Elasticsearch's part.
        deadline = time.monotonic() + 60
        while (
            not store.objects.counts([source_text(sources[0].key)]) and time.monotonic() < deadline
        ):
            time.sleep(0.05)
        control("kill", "weaviate")
        control("start", "weaviate")

    crashing = threading.Thread(target=crash)
    crashing.start()
    try:
        store.writer.replace(sources)
    finally:
        crashing.join()
    counts = store.writer.counts([source.key for source in sources])
    assert counts == [StoredCounts(PASSAGES, PASSAGES)] * SOURCES
