"""Repair over real engines: what it finds, and how often it asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.servers.faults import Faults, faulty_proxy

from askem.models import Question, Repair
from askem.retrieval import Retriever
from askem.stores.servers import Endpoints, ServerStore
from askem.testing.contract import contract_corpus
from askem.testing.fakes import FakeEncoder

pytestmark = pytest.mark.servers


@pytest.mark.parametrize(
    ("text", "repairs", "searches"),
    [
        ("infection stages", (), 1),
        ("zyxelo stages", (), 2),
        ("infectoin stages", (Repair("infectoin", "infection"),), 3),
    ],
)
def test_only_unknown_words_ask_again(
    store: ServerStore,
    open_store: Callable[..., ServerStore],
    endpoints: Endpoints,
    encoder: FakeEncoder,
    text: str,
    repairs: tuple[Repair, ...],
    searches: int,
) -> None:
    store.writer.replace(contract_corpus(encoder))
    asked = Faults()
    with faulty_proxy(endpoints.elasticsearch_url, asked, hold_s=0) as url:
        seen = open_store(encoder, replace(endpoints, elasticsearch_url=url))
        retriever = Retriever(
            encoder=encoder, sparse=seen.sparse, dense=seen.dense, reader=seen.reader
        )
        result = retriever.hybrid(Question(text, repair=True))
        seen.close()
    assert result.hits
    assert [(r.word, r.read_as.lower()) for r in result.repairs] == [
        (r.word, r.read_as) for r in repairs
    ]
    assert asked.done["/_msearch"] == searches
