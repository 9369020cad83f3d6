"""The server store: both engines as one, with the attributes of the embedded store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from askem.closing import Closing
from askem.ports import Encoder
from askem.settings import CommonSettings
from askem.stores.servers.bulk import Bulk
from askem.stores.servers.dense import WeaviateDense
from askem.stores.servers.elastic import Elastic
from askem.stores.servers.lease import Lease
from askem.stores.servers.ledger import ElasticLedger
from askem.stores.servers.names import Names
from askem.stores.servers.objects import Objects
from askem.stores.servers.reader import ServerReader
from askem.stores.servers.schema import Schema
from askem.stores.servers.sparse import ElasticSparse
from askem.stores.servers.weaviate import Weaviate
from askem.stores.servers.writer import ServerWriter

_GRPC_PORT = 50051


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """Where the engines are, and how long they are waited for."""

    weaviate_url: str
    weaviate_grpc_url: str
    weaviate_api_key: str | None
    elasticsearch_url: str
    elasticsearch_api_key: str | None
    timeout_s: float = 1.5
    """For each request of a search."""
    write_timeout_s: float = 60.0
    """For each request that writes."""


def endpoints(settings: CommonSettings, timeout_s: float) -> Endpoints:
    """Of settings with `stores` = `servers`."""
    url, elastic_url = settings.weaviate_url or "", settings.elasticsearch_url or ""
    parts = urlsplit(url)
    keys = settings.weaviate_apikey, settings.elasticsearch_apikey
    return Endpoints(
        weaviate_url=url,
        weaviate_grpc_url=settings.weaviate_grpc_url
        or f"{parts.scheme}://{parts.hostname}:{_GRPC_PORT}",
        weaviate_api_key=keys[0].get_secret_value() if keys[0] else None,
        elasticsearch_url=elastic_url,
        elasticsearch_api_key=keys[1].get_secret_value() if keys[1] else None,
        timeout_s=timeout_s,
    )


class ServerStore(Closing):
    """All ports of one corpus on Elasticsearch and Weaviate. Thread-safe, but for the writer.

    Nothing is connected before it is first used: a service starts while the engines are down.
    """

    def __init__(
        self, endpoints: Endpoints, *, encoder_id: str, dimension: int, index: str = "passages"
    ) -> None:
        """`index`: the alias, lower case; every other name on the engines begins with it.

        Raises ConfigurationError for a URL that is none.
        """
        names = Names(index)
        self.names = names
        self.elastic = Elastic(
            endpoints.elasticsearch_url,
            endpoints.elasticsearch_api_key,
            timeout_s=endpoints.timeout_s,
            write_timeout_s=endpoints.write_timeout_s,
        )
        self.weaviate = Weaviate(
            endpoints.weaviate_url,
            endpoints.weaviate_grpc_url,
            endpoints.weaviate_api_key,
            timeout_s=endpoints.timeout_s,
            write_timeout_s=endpoints.write_timeout_s,
        )
        self.bulk = Bulk(self.elastic)
        self.objects = Objects(self.weaviate, names, dimension)
        self.schema = Schema(
            self.elastic, self.weaviate, names, encoder_id=encoder_id, dimension=dimension
        )
        self.sparse = ElasticSparse(self.elastic, names)
        self.dense = WeaviateDense(self.weaviate, names, self.schema.check_collection)
        self.reader = ServerReader(self.elastic, self.dense, names)
        self.ledger = ElasticLedger(self.elastic, self.bulk, names)
        self.lease = Lease(self.elastic, names)
        self.writer = ServerWriter(
            self.elastic, self.bulk, self.objects, self.lease, self.schema, names
        )

    @classmethod
    def configured(cls, settings: CommonSettings, encoder: Encoder, *, timeout_s: float) -> Self:
        """The store that the settings name; raises as the constructor does."""
        return cls.open(endpoints(settings, timeout_s), encoder, index=settings.index)

    @classmethod
    def open(cls, endpoints: Endpoints, encoder: Encoder, *, index: str = "passages") -> Self:
        """The store for vectors of this encoder; raises as the constructor does."""
        return cls(
            endpoints, encoder_id=encoder.encoder_id, dimension=encoder.dimension, index=index
        )

    def close(self) -> None:
        self.weaviate.close()
        self.elastic.close()
