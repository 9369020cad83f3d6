"""The sparse leg: Tantivy proposes, BM25 over SQLite's own statistics decides.

Tantivy's BM25 has k1 = 1.2 and b = .75 built in and counts deleted passages until it merges. Its
best are scored again with exact, merge-independent statistics and the parameters that were
better on scientific text; scores are then the same after any history of writes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from askem.models import Filters, Screened
from askem.stores.embedded.access import Access, Snapshot
from askem.stores.embedded.filtering import where
from askem.stores.embedded.sparse_files import SparseFiles

K1 = 0.9
B = 0.4
_OVERSAMPLE = 2
_MIN_CANDIDATES = 200


class EmbeddedSparse:
    def __init__(self, access: Access, files: SparseFiles) -> None:
        self._access = access
        self._files = files

    def screen(self, terms: Sequence[str], top_k: int, filters: Filters) -> Screened:
        """The `top_k` passages with the highest BM25; ties by passage id."""
        snapshot = self._access.snapshot()
        term_ids, frequencies = self._lookup(terms)
        idf = np.log1p((snapshot.passages - frequencies + 0.5) / (frequencies + 0.5))
        known = [term for term, df in zip(terms, frequencies, strict=True) if df > 0]
        rows = self._propose(snapshot, known, top_k, filters) if known else []
        return self._rescore(snapshot, rows, term_ids, idf, frequencies, top_k)

    def _lookup(self, terms: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Term ids (-1 for unknown terms) and document frequencies, parallel to `terms`."""
        found = {
            term: (term_id, df)
            for term, term_id, df in self._access.db.execute(
                "SELECT term, term_id, df FROM lexicon "
                "WHERE term IN (SELECT value FROM json_each(?))",
                (json.dumps(list(terms)),),
            )
        }
        pairs = [found.get(term, (-1, 0)) for term in terms]
        ids, frequencies = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return ids, frequencies

    def _propose(
        self, snapshot: Snapshot, terms: list[str], top_k: int, filters: Filters
    ) -> list[tuple[int, str, int, bytes]]:
        """Row id, passage id, length and tokens of Tantivy's best that exist and pass."""
        limit = max(top_k * _OVERSAMPLE, _MIN_CANDIDATES)
        query = self._files.query(terms, filters)
        found = snapshot.searcher.search(query, limit=limit, count=False)
        addresses = [address for _, address in found.hits]
        rows = snapshot.searcher.fast_field_values("row_id", addresses)
        condition, values = where(filters)
        return self._access.db.execute(
            "SELECT row_id, passage_id, length, tokens FROM passages "
            "JOIN sources USING (source_id) JOIN passage_tokens USING (row_id) "
            f"WHERE row_id IN (SELECT value FROM json_each(?)) AND {condition}",
            [json.dumps(rows), *values],
        ).fetchall()

    def _rescore(
        self,
        snapshot: Snapshot,
        rows: list[tuple[int, str, int, bytes]],
        term_ids: NDArray[np.int64],
        idf: NDArray[np.float64],
        frequencies: NDArray[np.int64],
        top_k: int,
    ) -> Screened:
        lengths = np.array([length for _, _, length, _ in rows], dtype=np.int64)
        hits = _find_terms([blob for *_, blob in rows], lengths, term_ids)
        hit_rows, hit_positions, hit_terms = hits
        counts = np.zeros((len(rows), len(term_ids)))
        np.add.at(counts, (hit_rows, hit_terms), 1.0)
        bm25 = _bm25(counts, lengths, idf, snapshot.mean_length)
        ids = [passage_id for _, passage_id, _, _ in rows]
        order = sorted(range(len(rows)), key=lambda i: (-bm25[i], ids[i]))[:top_k]
        new_row = np.full(len(rows), -1, dtype=np.int32)
        new_row[order] = np.arange(len(order), dtype=np.int32)
        moved = new_row[hit_rows]
        kept = np.flatnonzero(moved >= 0)
        kept = kept[np.argsort(moved[kept], kind="stable")]
        return Screened(
            passage_ids=[ids[i] for i in order],
            bm25=bm25[order],
            idf=idf,
            document_frequency=frequencies,
            hit_rows=moved[kept],
            hit_positions=hit_positions[kept],
            hit_terms=hit_terms[kept],
        )


def _bm25(
    counts: NDArray[np.float64],
    lengths: NDArray[np.int64],
    idf: NDArray[np.float64],
    mean_length: float,
) -> NDArray[np.float64]:
    """BM25 in Lucene's form, each distinct term once; counts have shape (passages, terms)."""
    norm = K1 * (1 - B + B * lengths / max(mean_length, 1e-9))
    # Not a matrix product: that rounds equal rows differently, by their place.
    scores: NDArray[np.float64] = (counts / (counts + norm[:, None]) * idf).sum(axis=1)
    return scores


def _find_terms(
    blobs: list[bytes], lengths: NDArray[np.int64], term_ids: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Row, position and term of every occurrence, in the order of the rows and positions."""
    tokens = np.frombuffer(b"".join(blobs), dtype="<i4")
    order = np.argsort(term_ids, kind="stable")
    ranked = term_ids[order]
    at = np.minimum(np.searchsorted(ranked, tokens), len(ranked) - 1)
    places = np.flatnonzero(ranked[at] == tokens)
    starts = np.cumsum(lengths) - lengths
    rows = np.searchsorted(starts + lengths, places, side="right")
    positions = places - starts[rows]
    return rows.astype(np.int32), positions.astype(np.int32), order[at[places]].astype(np.int32)
