"""What became of each source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from askem.models import DocType

Status = Literal["created", "unchanged", "replaced", "failed"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one source; `failed` always has a `reason`."""

    paper_id: str
    doc_type: DocType
    status: Status
    cosmos_object_id: str | None = None
    source: str = ""
    """Where the text came from, as the operator would name it."""
    passages: int = 0
    split_passages: int = 0
    """Passages beyond the encoder's window, encoded in several pieces."""
    repairs: dict[str, int] = field(default_factory=dict)
    """What decoding had to mend, by kind."""
    topics: tuple[str, ...] = ()
    """Of the source now; those of a failed one, as they were asked for."""
    topics_added: tuple[str, ...] = ()
    """Of `topics`, where an `unchanged` text was not found under them before."""
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    created: int
    unchanged: int
    replaced: int
    failed: int
    passages: int
    """Passages of all sources that are stored now, unchanged ones included."""
    split_passages: int

    @classmethod
    def of(cls, receipts: Iterable[Receipt]) -> Summary:
        receipts = list(receipts)
        count = Counter(receipt.status for receipt in receipts)
        return cls(
            created=count["created"],
            unchanged=count["unchanged"],
            replaced=count["replaced"],
            failed=count["failed"],
            passages=sum(receipt.passages for receipt in receipts),
            split_passages=sum(receipt.split_passages for receipt in receipts),
        )
