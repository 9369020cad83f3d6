"""What things are called on the engines, and how values are turned into keys."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass

from askem.models import SourceKey
from askem.ports import EncodedSource

SCHEMA_VERSION = "1"
_NAMESPACE = uuid.UUID("5b0f4b4e-6f0c-5c7b-9a54-7b1f5d1f2a10")
_SEPARATOR = "\x1f"
"""Occurs in no id, so that joined ids cannot be taken for others."""


@dataclass(frozen=True, slots=True)
class Names:
    """`base`: the alias readers ask, lower case; every other name is derived from it."""

    base: str = "passages"

    def index(self, version: int) -> str:
        return f"{self.base}_v{version}"

    @property
    def ledger(self) -> str:
        return f"{self.base}-ledger"

    @property
    def lease(self) -> str:
        return f"{self.base}-lease"

    @property
    def collection_alias(self) -> str:
        # Weaviate's class names begin with a capital.
        return self.base[:1].upper() + self.base[1:]

    def collection(self, version: int) -> str:
        return f"{self.collection_alias}_v{version}"

    def version_of(self, name: str) -> int | None:
        """The version of an index or collection of ours, None for other names."""
        stem, _, number = name.rpartition("_v")
        ours = stem in (self.base, self.collection_alias)
        return int(number) if ours and number.isdecimal() else None


def source_text(key: SourceKey) -> str:
    """One keyword that stands for a source."""
    return _SEPARATOR.join((key.paper_id, key.doc_type, key.cosmos_object_id))


def source_key(text: str) -> SourceKey:
    paper_id, doc_type, object_id = text.split(_SEPARATOR)
    return SourceKey(paper_id, doc_type, object_id)  # type: ignore[arg-type]


def is_source_text(text: object) -> bool:
    """Whether `source_key` can read it."""
    return isinstance(text, str) and text.count(_SEPARATOR) == 2


def window_id(passage_id: str, window: int) -> str:
    """The object id of a passage's window: the same whenever it is written."""
    return str(uuid.uuid5(_NAMESPACE, f"{passage_id}{_SEPARATOR}{window}"))


def digest_of(source: EncodedSource) -> bytes:
    """16 bytes for a source's key, content, preprocessor and topics."""
    described = (
        source_text(source.key),
        source.content_hash,
        source.preprocessor_id,
        *sorted(source.topics),
    )
    return hashlib.blake2b("\x1e".join(described).encode(), digest_size=16).digest()


def revision_of(source: EncodedSource, encoder_id: str) -> str:
    """What was written of a source: passages of the same source with another revision are stale."""
    state = hashlib.blake2b(digest_of(source), digest_size=12)
    shape = [len(source.passages), *(len(windows) for windows in source.vectors)]
    state.update(f"{encoder_id}{_SEPARATOR}{shape}".encode())
    return state.hexdigest()
