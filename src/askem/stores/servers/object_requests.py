"""Single requests for objects of Weaviate, each safe to repeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import weaviate
from weaviate.classes.data import DataObject
from weaviate.exceptions import WeaviateInsertManyAllFailedError

from askem.errors import BackendUnavailable
from askem.stores.servers.documents import Window
from askem.stores.servers.weaviate import is_refusal, refused_key

PAGE = 1_000
MOST = 10_000
"""Objects of one request."""


def page(
    collection: str, vectors: bool, after: str | None, client: weaviate.WeaviateClient
) -> list[Any]:
    answer = client.collections.use(collection).query.fetch_objects(
        limit=PAGE, after=after, include_vector=vectors
    )
    return list(answer.objects)


def delete(collection: str, chosen: Any, client: weaviate.WeaviateClient) -> bool:
    """Whether there may be more."""
    answer = client.collections.use(collection).data.delete_many(where=chosen)
    if answer.failed:
        raise BackendUnavailable("weaviate", f"{answer.failed} objects could not be deleted")
    return bool(answer.matches >= MOST)


def delete_by_id(collection: str, uuid: str, client: weaviate.WeaviateClient) -> bool:
    """Whether it was there."""
    return bool(client.collections.use(collection).data.delete_by_id(uuid))


def insert(
    collection: str, windows: Sequence[Window], client: weaviate.WeaviateClient
) -> dict[int, str]:
    """Reasons of those that were refused, by place."""
    objects = [DataObject(w.properties, uuid=w.uuid, vector=w.vector) for w in windows]
    try:
        answer = client.collections.use(collection).data.insert_many(objects)
    except WeaviateInsertManyAllFailedError as error:
        if is_refusal(str(error)):
            raise refused_key() from error
        return dict.fromkeys(range(len(windows)), str(error))
    return {place: failed.message for place, failed in answer.errors.items()}
