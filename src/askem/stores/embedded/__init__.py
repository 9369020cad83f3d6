"""The embedded store."""

from askem.stores.embedded.store import EmbeddedStore

__all__ = ["EmbeddedStore"]
