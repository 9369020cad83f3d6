"""A source as Elasticsearch's documents and Weaviate's objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askem.models import Passage
from askem.ports import EncodedSource
from askem.stores.servers.bulk import Action
from askem.stores.servers.names import digest_of, revision_of, source_text, window_id
from askem.stores.servers.terms import pack, words


@dataclass(frozen=True, slots=True)
class Window:
    """One Weaviate object."""

    uuid: str
    properties: dict[str, Any]
    vector: list[float]


def documents(
    source: EncodedSource, index: str, encoder_id: str, updated_at: str
) -> Iterator[Action]:
    """An `index` action for each passage."""
    shared = {
        "source": source_text(source.key),
        "revision": revision_of(source, encoder_id),
        "content_hash": source.content_hash,
        "encoder_id": encoder_id,
        "updated_at": updated_at,
    }
    digest = digest_of(source)
    parts = {f"digest_{i}": int.from_bytes(digest[4 * i : 4 * i + 4], "big") for i in range(4)}
    for passage, tokens, vectors in zip(
        source.passages, source.tokens, source.vectors, strict=True
    ):
        body = {
            **shared,
            **_described(passage),
            **(parts if passage.order == 0 else {}),
            "order": passage.order,
            "text": passage.text,
            "windows": len(vectors),
            "length": len(tokens),
            "tokens": words(tokens),
            "token_numbers": pack(tokens),
        }
        yield Action(index, passage.passage_id, json.dumps(body).encode(), alias=True)


def windows(source: EncodedSource, encoder_id: str) -> Iterator[Window]:
    """An object for each window of each passage."""
    revision = revision_of(source, encoder_id)
    for passage, vectors in zip(source.passages, source.vectors, strict=True):
        yield from passage_windows(passage, vectors, source_text(source.key), revision)


def passage_windows(
    passage: Passage, vectors: NDArray[np.float32], source: str, revision: str
) -> Iterator[Window]:
    shared = {
        **_described(passage),
        "source": source,
        "revision": revision,
        "order": passage.order,
        "windows": len(vectors),
    }
    for number, vector in enumerate(vectors):
        text = {"text": passage.text} if number == 0 else {}
        yield Window(
            uuid=window_id(passage.passage_id, number),
            properties={**shared, **text, "window": number},
            vector=vector.astype(float).tolist(),
        )


def _described(passage: Passage) -> dict[str, Any]:
    return {
        "passage_id": passage.passage_id,
        "paper_id": passage.paper_id,
        "doc_type": passage.doc_type,
        "preprocessor_id": passage.preprocessor_id,
        "topics": list(passage.topics),
        "paragraph_terms": list(passage.paragraph_terms),
        "cosmos_object_id": passage.cosmos_object_id or "",
    }
