"""What every store's legs end with: exact BM25 over the proposed passages, and ties by id.

Engines propose; the figures that are returned are computed here, in one way for all stores.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askem.models import DenseHits, Screened

K1 = 0.9
B = 0.4
TIE = 5e-7
"""Distances closer than this are equal: that of one vector differs by about 1e-7 with the order
in which its components are summed."""

OVERSAMPLE = 2
MIN_CANDIDATES = 200


def candidates(top_k: int) -> int:
    """How many passages an engine has to propose for `top_k`: its own scores are rounded."""
    return max(top_k * OVERSAMPLE, MIN_CANDIDATES)


def idf_of(frequencies: NDArray[np.int64], passages: int) -> NDArray[np.float64]:
    """Lucene's idf, for terms that occur nowhere too."""
    idf: NDArray[np.float64] = np.log1p((passages - frequencies + 0.5) / (frequencies + 0.5))
    return idf


def screened(
    ids: list[str],
    lengths: NDArray[np.int64],
    hits: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
    idf: NDArray[np.float64],
    frequencies: NDArray[np.int64],
    mean_length: float,
    top_k: int,
) -> Screened:
    """The best `top_k` of the proposed passages, ties by id.

    `hits` are row, position and term of every occurrence, as `find_terms` returns them.
    """
    hit_rows, hit_positions, hit_terms = hits
    counts = np.zeros((len(ids), len(idf)))
    np.add.at(counts, (hit_rows, hit_terms), 1.0)
    norms = np.asarray(K1 * (1 - B + B * lengths / max(mean_length, 1e-9)), dtype=np.float64)
    bm25 = _bm25(counts, norms, idf)
    # Where passages were named, some may have none of the terms.
    matching = np.flatnonzero(counts.any(axis=1)).tolist()
    order = sorted(matching, key=lambda i: (-bm25[i], ids[i]))[:top_k]
    new_row = np.full(len(ids), -1, dtype=np.int32)
    new_row[order] = np.arange(len(order), dtype=np.int32)
    moved = new_row[hit_rows]
    kept = np.flatnonzero(moved >= 0)
    kept = kept[np.argsort(moved[kept], kind="stable")]
    return Screened(
        passage_ids=[ids[i] for i in order],
        bm25=bm25[order],
        lengths=lengths[order],
        norms=norms[order],
        idf=idf,
        document_frequency=frequencies,
        hit_rows=moved[kept],
        hit_positions=hit_positions[kept],
        hit_terms=hit_terms[kept],
    )


def _bm25(
    counts: NDArray[np.float64], norms: NDArray[np.float64], idf: NDArray[np.float64]
) -> NDArray[np.float64]:
    """BM25 in Lucene's form, each distinct term once; counts have shape (passages, terms)."""
    # Not a matrix product: that rounds equal rows differently, by their place.
    scores: NDArray[np.float64] = (counts / (counts + norms[:, None]) * idf).sum(axis=1)
    return scores


def find_terms(
    tokens: NDArray[np.signedinteger], lengths: NDArray[np.int64], terms: NDArray[np.signedinteger]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Row, position and term of every occurrence, in the order of the rows and positions.

    `tokens`: those of all rows, one after another, as integers of which `terms` is a selection;
    `lengths`: how many belong to each row.
    """
    order = np.argsort(terms, kind="stable")
    ranked = terms[order]
    at = np.minimum(np.searchsorted(ranked, tokens), len(ranked) - 1)
    places = np.flatnonzero(ranked[at] == tokens)
    starts = np.cumsum(lengths) - lengths
    rows = np.searchsorted(starts + lengths, places, side="right")
    positions = places - starts[rows]
    return rows.astype(np.int32), positions.astype(np.int32), order[at[places]].astype(np.int32)


def nearest(ids: list[str], similarities: NDArray[np.floating], top_k: int) -> DenseHits:
    """The best `top_k` by distance, 1 - similarity; what is closer than a rounding is ordered by
    id and given one distance."""
    distances = np.maximum(0.0, 1.0 - np.asarray(similarities, dtype=np.float64))
    nearest_first = np.argsort(distances, kind="stable")
    ids, distances = [ids[i] for i in nearest_first], distances[nearest_first]
    starts = np.flatnonzero(np.diff(distances, prepend=-1.0) > TIE)
    distances = np.repeat(distances[starts], np.diff(starts, append=len(ids)))
    order = sorted(range(len(ids)), key=lambda i: (distances[i], ids[i]))[:top_k]
    return DenseHits([ids[i] for i in order], distances[order])
