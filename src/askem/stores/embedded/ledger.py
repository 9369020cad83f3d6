"""The ledger of the embedded store: what was asked for, and how far it got."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from askem.models import SourceKey
from askem.ports import LedgerEntry
from askem.stores.embedded.schema import DATABASE, connect, transaction, writable

_COLUMNS = (
    "paper_id, doc_type, cosmos_object_id, state, content_hash, preprocessor_id, encoder_id, "
    "topics, passages, windows, updated_at, error"
)
_BY_KEY = "WHERE paper_id = ? AND doc_type = ? AND cosmos_object_id = ?"


class EmbeddedLedger:
    def __init__(self, data_dir: Path) -> None:
        self._connection = connect(data_dir / DATABASE, writer=True)

    def close(self) -> None:
        self._connection.close()

    def get(self, key: SourceKey) -> LedgerEntry | None:
        row = self._connection.execute(
            f"SELECT {_COLUMNS} FROM ledger {_BY_KEY}",
            (key.paper_id, key.doc_type, key.cosmos_object_id),
        ).fetchone()
        return None if row is None else _entry(row)

    def record(self, entries: Sequence[LedgerEntry]) -> None:
        """Inserts or overwrites, durably, all or none."""
        self._all_or_none(
            f"INSERT OR REPLACE INTO ledger ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            [_row(entry) for entry in entries],
        )

    def forget(self, keys: Sequence[SourceKey]) -> None:
        self._all_or_none(
            f"DELETE FROM ledger {_BY_KEY}",
            [(key.paper_id, key.doc_type, key.cosmos_object_id) for key in keys],
        )

    def entries(self, paper_id: str | None = None) -> Iterator[LedgerEntry]:
        """All entries, or one paper's, by key."""
        where, values = ("WHERE paper_id = ?", (paper_id,)) if paper_id else ("", ())
        order = "ORDER BY paper_id, doc_type, cosmos_object_id"
        rows = self._connection.execute(f"SELECT {_COLUMNS} FROM ledger {where} {order}", values)
        yield from map(_entry, rows.fetchall())

    def _all_or_none(self, statement: str, rows: list[tuple[object, ...]]) -> None:
        with writable(), transaction(self._connection):
            self._connection.executemany(statement, rows)


def _row(entry: LedgerEntry) -> tuple[object, ...]:
    key = entry.key
    return (
        key.paper_id,
        key.doc_type,
        key.cosmos_object_id,
        entry.state,
        entry.content_hash,
        entry.preprocessor_id,
        entry.encoder_id,
        json.dumps(entry.topics),
        entry.passages,
        entry.windows,
        entry.updated_at,
        entry.error,
    )


def _entry(row: tuple[object, ...]) -> LedgerEntry:
    paper_id, doc_type, object_id, state, content, preprocessor, encoder, topics, *rest = row
    passages, windows, updated_at, error = rest
    return LedgerEntry(
        key=SourceKey(paper_id, doc_type, object_id),  # type: ignore[arg-type]
        state=state,  # type: ignore[arg-type]
        content_hash=str(content),
        preprocessor_id=str(preprocessor),
        encoder_id=str(encoder),
        topics=tuple(json.loads(str(topics))),
        passages=int(str(passages)),
        windows=int(str(windows)),
        updated_at=str(updated_at),
        error=None if error is None else str(error),
    )
