"""Real engines: their addresses come from `scripts/engines.sh env`; without them tests fail."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator

import pytest

from askem.ports import Encoder
from askem.stores.servers import Endpoints, ServerStore
from askem.testing.fakes import FakeEncoder

pytest.register_assert_rewrite("askem.testing.contract")


@pytest.fixture(scope="session")
def endpoints() -> Endpoints:
    missing = [name for name in _NAMES if not os.environ.get(name)]
    if missing:
        pytest.fail(
            f"not set: {', '.join(missing)}; run `make test-servers`, or scripts/engines.sh up "
            'and eval "$(scripts/engines.sh env)"'
        )
    return Endpoints(
        weaviate_url=os.environ["WEAVIATE_URL"],
        weaviate_grpc_url=os.environ["WEAVIATE_GRPC_URL"],
        weaviate_api_key=os.environ["WEAVIATE_APIKEY"],
        elasticsearch_url=os.environ["ELASTICSEARCH_URL"],
        elasticsearch_api_key=os.environ["ELASTICSEARCH_APIKEY"],
    )


_NAMES = (
    "WEAVIATE_URL",
    "WEAVIATE_GRPC_URL",
    "WEAVIATE_APIKEY",
    "ELASTICSEARCH_URL",
    "ELASTICSEARCH_APIKEY",
)


@pytest.fixture(scope="session")
def weaviate_read_key(endpoints: Endpoints) -> str:
    return os.environ["WEAVIATE_READ_APIKEY"]


OpenStore = Callable[..., ServerStore]


@pytest.fixture
def index() -> str:
    return f"test{uuid.uuid4().hex[:12]}"


@pytest.fixture
def open_store(endpoints: Endpoints, index: str) -> Iterator[OpenStore]:
    """Opens stores on one empty index of this test's own; all is deleted afterwards."""
    opened: list[ServerStore] = []

    def opener(encoder: Encoder, at: Endpoints = endpoints) -> ServerStore:
        store = ServerStore.open(at, encoder, index=index)
        opened.append(store)
        return store

    yield opener
    for store in opened:
        store.close()
    with ServerStore.open(endpoints, FakeEncoder(), index=index) as store:
        drop_everything(store)


@pytest.fixture
def encoder() -> FakeEncoder:
    return FakeEncoder()


@pytest.fixture
def store(open_store: OpenStore, encoder: FakeEncoder) -> ServerStore:
    store = open_store(encoder)
    store.schema.create()
    return store


def drop_everything(store: ServerStore) -> None:
    names = store.names
    store.weaviate.write(lambda c: c.alias.delete(alias_name=names.collection_alias))
    for version in {*store.schema.status()[0].versions, *store.schema.status()[1].versions}:
        store.schema.drop_version(version)
    store.elastic.write(
        lambda c: c.indices.delete(index=f"{names.ledger},{names.lease}", ignore_unavailable=True)
    )
