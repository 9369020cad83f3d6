"""Candidates that share no word with the question: the nearest passages beside the screened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from askem.models import Screened


def widened(screened: Screened, named: Screened, more: Sequence[str]) -> Screened:
    """`screened` and, after it, the passages `more`, none of which it holds.

    `named` is what the sparse leg found among `more`; those it did not find have none of the
    question's terms, and BM25 0.
    """
    if not more:
        return screened
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
