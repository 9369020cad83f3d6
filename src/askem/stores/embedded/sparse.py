"""The sparse leg: Tantivy proposes, BM25 over SQLite's own statistics decides.

Tantivy's BM25 has k1 = 1.2 and b = .75 built in and counts deleted passages until it merges. Its
best are scored again with exact, merge-independent statistics and the parameters that were
better on scientific text; scores are then the same after any history of writes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from askem.models import Filters, Screened
from askem.stores.embedded.access import Access, Snapshot
from askem.stores.embedded.filtering import where
from askem.stores.embedded.sparse_files import SparseFiles
from askem.stores.scoring import candidates, find_terms, idf_of, screened


class EmbeddedSparse:
    def __init__(self, access: Access, files: SparseFiles) -> None:
        self._access = access
        self._files = files

    def screen(self, terms: Sequence[str], top_k: int, filters: Filters) -> Screened:
        """The `top_k` passages with the highest BM25; ties by passage id."""
        snapshot = self._access.snapshot()
        term_ids, frequencies = self._lookup(terms)
        idf = idf_of(frequencies, snapshot.passages)
        known = [term for term, df in zip(terms, frequencies, strict=True) if df > 0]
        rows = self._propose(snapshot, known, top_k, filters) if known else []
        return self._rescore(snapshot, rows, term_ids, idf, frequencies, top_k)

    def vocabulary(self, terms: Sequence[str]) -> Mapping[str, int]:
        return {term: df for term, (_, df) in self._lexicon(terms).items() if df > 0}

    def _lookup(self, terms: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Term ids (-1 for unknown terms) and document frequencies, parallel to `terms`."""
        found = self._lexicon(terms)
        pairs = [found.get(term, (-1, 0)) for term in terms]
        ids, frequencies = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return ids, frequencies

    def _lexicon(self, terms: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Term id and document frequency of the terms that some passage has or had."""
        return {
            term: (term_id, df)
            for term, term_id, df in self._access.db.execute(
                "SELECT term, term_id, df FROM lexicon "
                "WHERE term IN (SELECT value FROM json_each(?))",
                (json.dumps(list(terms)),),
            )
        }

    def _propose(
        self, snapshot: Snapshot, terms: list[str], top_k: int, filters: Filters
    ) -> list[tuple[int, str, int, bytes]]:
        """Row id, passage id, length and tokens of Tantivy's best that exist and pass."""
        limit = candidates(top_k)
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
        tokens = np.frombuffer(b"".join(blob for *_, blob in rows), dtype="<i4")
        hits = find_terms(tokens, lengths, term_ids)
        ids = [passage_id for _, passage_id, _, _ in rows]
        return screened(ids, lengths, hits, idf, frequencies, snapshot.mean_length, top_k)
