"""The server store: Elasticsearch holds texts and terms, Weaviate vectors."""

from askem.stores.servers.store import Endpoints, ServerStore

__all__ = ["Endpoints", "ServerStore"]
