"""From a configuration to a way of searching."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from askem.evaluation.config import RunConfig
from askem.evaluation.indexing import Index
from askem.models import Filters, Hit, Question, Screened, SearchResult
from askem.ports import SparseIndex
from askem.retrieval.explain import Explanation
from askem.retrieval.ranking import DEFAULT_WEIGHTS, Weights
from askem.retrieval.reranking import Reranking
from askem.retrieval.retriever import Retriever
from askem.text.analysis import question_terms

DEPTH = 100
"""How many passages a run lists for a question."""
Search = Callable[[str, Filters], SearchResult]
Explain = Callable[[str, str], Explanation]
"""Of a question's text and a passage id."""

_ALL_PASSAGES = 10_000


def make_search(index: Index, config: RunConfig) -> Search:
    """What answers a question as `config` says, over an open index."""
    retriever = _retriever(index, config)
    if config.legs == ("sparse",):
        return lambda text, filters: _bm25(index, config, text, filters)
    if config.legs == ("dense",):
        return lambda text, filters: retriever.vector(_asked(config, text, filters))
    return lambda text, filters: retriever.hybrid(_asked(config, text, filters))


def make_explain(index: Index, config: RunConfig) -> Explain | None:
    """What explains a passage's place in such a search; None where not both legs are asked."""
    if config.legs != ("sparse", "dense"):
        return None
    retriever = _retriever(index, config)
    return lambda text, passage_id: retriever.explain(_asked(config, text, Filters()), passage_id)


def _retriever(index: Index, config: RunConfig) -> Retriever:
    store = index.store
    sparse: SparseIndex = store.sparse
    if config.screen_by == "paper":
        sparse = PaperScreening(sparse)
    return Retriever(
        encoder=index.encoder,
        sparse=sparse,
        dense=store.dense,
        reader=store.reader,
        weights=weights_of(config),
        # However long it takes: a run has to be the same again.
        reranking=Reranking(index.reranker, math.inf) if index.reranker else None,
    )


def _asked(config: RunConfig, text: str, filters: Filters) -> Question:
    return Question(
        text=text,
        top_k=DEPTH,
        filters=filters,
        screening_top_k=config.screening_top_k,
        ranking=config.ranking,
        nearest_top_k=config.nearest_top_k,
        rerank_top_k=config.rerank_top_k,
    )


def weights_of(config: RunConfig) -> Weights:
    given = {
        "cosine": config.cosine_weight,
        "pair": config.pair_weight,
        "kernel_width": config.kernel_width,
        "blend_dense": config.blend_dense_weight,
    }
    return replace(DEFAULT_WEIGHTS, **{k: v for k, v in given.items() if v is not None})


def _bm25(index: Index, config: RunConfig, text: str, filters: Filters) -> SearchResult:
    """The sparse leg alone, by BM25."""
    terms = question_terms(text)
    found = index.store.sparse.screen(terms, max(DEPTH, config.screening_top_k), filters)
    ids = found.passage_ids[:DEPTH]
    passages = index.store.reader.passages(ids)
    hits = [
        Hit(passages[i], score=float(bm25), distance=None, bm25=float(bm25), sparse_rank=rank)
        for rank, (i, bm25) in enumerate(zip(ids, found.bm25, strict=False), start=1)
    ]
    return SearchResult(hits, screened=len(found.passage_ids), score_scale=float(found.idf.sum()))


@dataclass(frozen=True, slots=True)
class PaperScreening:
    """Screens by papers: those of the best passages, and of them every passage with a term."""

    sparse: SparseIndex

    def screen(
        self,
        terms: Sequence[str],
        top_k: int,
        filters: Filters,
        within: Sequence[str] | None = None,
    ) -> Screened:
        """`top_k` counts papers."""
        found = self.sparse.screen(terms, _ALL_PASSAGES, filters, within)
        papers = dict.fromkeys(i.rpartition("#")[0] for i in found.passage_ids)
        kept = tuple(papers)[:top_k]
        if not kept:
            return found
        return self.sparse.screen(terms, _ALL_PASSAGES, replace(filters, paper_ids=kept), within)

    def vocabulary(self, terms: Sequence[str]) -> Mapping[str, int]:
        return self.sparse.vocabulary(terms)
