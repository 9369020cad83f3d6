"""Candidates that share no word with the question: the nearest passages beside the screened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from askem.models import Filters, Screened, Vector
from askem.ports import DenseIndex, SparseIndex


@dataclass(frozen=True, slots=True)
class Candidates:
    """What is ranked: what the screening handed on and, after it, what joined."""

    both: Screened
    handed_on: int
    """How many of `both`, its first, come from the screening."""
    nearest: float | None = None
    """Distance of the nearest passage of all, where it was looked for and there is one."""

    @classmethod
    def of(cls, screened: Screened) -> Candidates:
        """What was screened alone."""
        return cls(screened, len(screened.passage_ids))

    @property
    def joined(self) -> int:
        """How many came by their distance alone."""
        return len(self.both.passage_ids) - self.handed_on


def with_nearest(
    screened: Screened,
    terms: Sequence[str],
    vector: Vector,
    top_k: int,
    filters: Filters,
    *,
    sparse: SparseIndex,
    dense: DenseIndex,
) -> Candidates:
    """`screened` and the passages among the `top_k` nearest that it lacks.

    Raises BackendUnavailable.
    """
    known = set(screened.passage_ids)
    near = dense.search(vector, top_k, filters)
    more = [passage_id for passage_id in near.passage_ids if passage_id not in known]
    if more:
        named = sparse.screen(terms, len(more), filters, within=more)
        both = widened(screened, named, more)
    else:
        both = screened
    nearest = float(near.distances[0]) if len(near.distances) else None
    return Candidates(both, len(screened.passage_ids), nearest)


def widened(screened: Screened, named: Screened, more: Sequence[str]) -> Screened:
    """`screened` and, after it, the passages `more`, none of which it holds.

    `named` is what the sparse leg found among `more`; those it did not find have none of the
    question's terms, and BM25 0.
    """
    found = set(named.passage_ids)
    without = [passage_id for passage_id in more if passage_id not in found]
    nothing = np.zeros(len(without))
    return replace(
        screened,
        passage_ids=[*screened.passage_ids, *named.passage_ids, *without],
        bm25=np.concatenate([screened.bm25, named.bm25, nothing]),
        lengths=np.concatenate([screened.lengths, named.lengths, nothing.astype(np.int64)]),
        norms=np.concatenate([screened.norms, named.norms, nothing]),
        hit_rows=np.concatenate(
            [screened.hit_rows, named.hit_rows + np.int32(len(screened.passage_ids))]
        ),
        hit_positions=np.concatenate([screened.hit_positions, named.hit_positions]),
        hit_terms=np.concatenate([screened.hit_terms, named.hit_terms]),
    )
