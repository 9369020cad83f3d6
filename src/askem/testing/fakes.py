"""In-memory fakes of the ports: small, exact, deterministic; no files, no model."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from askem.models import (
    CorpusSnapshot,
    DenseHits,
    Filters,
    PaperSummary,
    Passage,
    Screened,
    TopicCount,
    Vector,
)
from askem.text.analysis import tokens

K1, B = 0.9, 0.4
"""BM25's parameters."""
Hook = Callable[[str], None]
"""Called with a method's name at its start: may sleep, record or raise."""


def _nothing(_: str) -> None:
    return None


class FakeEncoder:
    """A text's vector is the normalised sum of its tokens' vectors, which come from a hash."""

    def __init__(self, dimension: int = 32, *, window: int = 64, hook: Hook = _nothing) -> None:
        """`window`: tokens a vector covers; longer passages get several."""
        self._dimension = dimension
        self._window = window
        self._hook = hook

    @property
    def encoder_id(self) -> str:
        return f"fake-{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def window_tokens(self) -> int:
        return self._window

    def encode_question(self, text: str) -> Vector:
        self._hook("encode_question")
        return self._vector(tokens(text))

    def encode_passages(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        self._hook("encode_passages")
        return [np.stack([self._vector(window) for window in self._windows(t)]) for t in texts]

    def close(self) -> None:
        self._hook("close")

    def _windows(self, text: str) -> list[list[str]]:
        found = tokens(text)
        starts = range(0, max(len(found), 1), self._window)
        return [found[start : start + self._window] for start in starts]

    def _vector(self, terms: Sequence[str]) -> Vector:
        # A text without tokens still has a direction of its own.
        total = sum((self._direction(term) for term in terms or [""]), np.zeros(self._dimension))
        return np.asarray(total / np.linalg.norm(total), dtype=np.float32)

    def _direction(self, term: str) -> NDArray[np.float64]:
        seed = int.from_bytes(hashlib.sha256(term.encode()).digest()[:8], "big")
        return np.random.default_rng(seed).standard_normal(self._dimension)


class FakeReranker:
    """Prefers passages in which the question's terms make up more of the text."""

    reranker_id = "fake-reranker"

    def __init__(self, *, batch: int = 2, hook: Hook = _nothing) -> None:
        self.batch = batch
        self._hook = hook

    def rerank(self, question: str, passages: Sequence[Passage]) -> NDArray[np.float64]:
        self._hook("rerank")
        asked = set(tokens(question))
        return np.array([self._share(asked, tokens(passage.text)) for passage in passages])

    def _share(self, asked: set[str], have: list[str]) -> float:
        return sum(token in asked for token in have) / max(len(have), 1)


class FakeStore:
    """Passages in a dict: SparseIndex, DenseIndex and PassageReader in one."""

    def __init__(
        self, passages: Iterable[Passage], encoder: FakeEncoder, *, hook: Hook = _nothing
    ) -> None:
        self._passages = {passage.passage_id: passage for passage in passages}
        self._tokens = {key: tokens(passage.text) for key, passage in self._passages.items()}
        self._encoder_id = encoder.encoder_id
        texts = [passage.text for passage in self._passages.values()]
        self._vectors = dict(zip(self._passages, encoder.encode_passages(texts), strict=True))
        self._hook = hook

    # SparseIndex

    def screen(
        self,
        terms: Sequence[str],
        top_k: int,
        filters: Filters,
        within: Sequence[str] | None = None,
    ) -> Screened:
        self._hook("screen")
        frequency = [sum(term in have for have in self._tokens.values()) for term in terms]
        total = len(self._tokens)
        idf = np.array([math.log(1 + (total - n + 0.5) / (n + 0.5)) for n in frequency])
        scores = {
            key: score
            for key in self._matching(filters)
            if (within is None or key in within)
            and (score := self._bm25(self._tokens[key], terms, idf)) > 0
        }
        ids = sorted(scores, key=lambda key: (-scores[key], key))[:top_k]
        places = [
            (row, position, terms.index(token))
            for row, key in enumerate(ids)
            for position, token in enumerate(self._tokens[key])
            if token in terms
        ]
        columns = np.array(places, dtype=np.int32).reshape(-1, 3)
        return Screened(
            passage_ids=ids,
            bm25=np.array([scores[key] for key in ids], dtype=np.float64),
            lengths=np.array([len(self._tokens[key]) for key in ids], dtype=np.int64),
            norms=np.array([self._norm(self._tokens[key]) for key in ids], dtype=np.float64),
            idf=idf,
            document_frequency=np.array(frequency, dtype=np.int64),
            hit_rows=columns[:, 0],
            hit_positions=columns[:, 1],
            hit_terms=columns[:, 2],
        )

    def vocabulary(self, terms: Sequence[str]) -> dict[str, int]:
        self._hook("vocabulary")
        counted = {term: sum(term in have for have in self._tokens.values()) for term in terms}
        return {term: n for term, n in counted.items() if n}

    def _bm25(self, have: list[str], terms: Sequence[str], idf: NDArray[np.float64]) -> float:
        norm = self._norm(have)
        counts = Counter(have)
        return sum(
            float(weight) * counts[term] / (counts[term] + norm)
            for term, weight in zip(terms, idf, strict=True)
        )

    def _norm(self, have: list[str]) -> float:
        mean = sum(map(len, self._tokens.values())) / len(self._tokens)
        return K1 * (1 - B + B * len(have) / mean) if mean else K1

    # DenseIndex

    def search(
        self,
        vector: Vector,
        top_k: int,
        filters: Filters,
        within: Sequence[str] | None = None,
    ) -> DenseHits:
        self._hook("search")
        allowed = None if within is None else set(within)
        # A zero vector is at distance 1 from everything.
        unit = vector / (np.linalg.norm(vector) or 1.0)
        distances = {
            key: 1.0 - float(np.max(self._vectors[key] @ unit))
            for key in self._matching(filters)
            if allowed is None or key in allowed
        }
        ids = sorted(distances, key=lambda key: (distances[key], key))[:top_k]
        return DenseHits(ids, np.array([distances[key] for key in ids], dtype=np.float64))

    def _matching(self, filters: Filters) -> list[str]:
        return [key for key, passage in self._passages.items() if matches(passage, filters)]

    # PassageReader

    def passages(self, passage_ids: Sequence[str]) -> dict[str, Passage]:
        self._hook("passages")
        return {key: self._passages[key] for key in passage_ids if key in self._passages}

    def paper(self, paper_id: str) -> PaperSummary | None:
        self._hook("paper")
        return self._summary(paper_id)

    def papers(self, *, topic: str | None, after: str | None, limit: int) -> list[PaperSummary]:
        self._hook("papers")
        ids = sorted({passage.paper_id for passage in self._passages.values()})
        found = [summary for key in ids if (summary := self._summary(key))]
        kept = [paper for paper in found if topic is None or topic in paper.topics]
        return [paper for paper in kept if after is None or paper.paper_id > after][:limit]

    def paper_passages(self, paper_id: str, *, limit: int, offset: int) -> list[Passage]:
        self._hook("paper_passages")
        return self._of(paper_id)[offset : offset + limit]

    def topics(self) -> list[TopicCount]:
        self._hook("topics")
        found = sorted({topic for p in self._passages.values() for topic in p.topics})
        return [self._count(topic) for topic in found]

    def snapshot(self) -> CorpusSnapshot:
        self._hook("snapshot")
        digest = hashlib.sha256("\n".join(sorted(self._passages)).encode()).hexdigest()
        papers = len({passage.paper_id for passage in self._passages.values()})
        return CorpusSnapshot(papers, len(self._passages), digest, self._encoder_id)

    def _of(self, paper_id: str) -> list[Passage]:
        found = [p for p in self._passages.values() if p.paper_id == paper_id]
        # Paragraphs first: they have no object id.
        return sorted(found, key=lambda p: (p.cosmos_object_id or "", p.order))

    def _summary(self, paper_id: str) -> PaperSummary | None:
        found = self._of(paper_id)
        if not found:
            return None
        types = Counter(passage.doc_type for passage in found)
        return PaperSummary(
            paper_id=paper_id,
            topics=tuple(sorted({topic for passage in found for topic in passage.topics})),
            paragraphs=types["paragraph"],
            figures=types["figure"],
            sections=types["section"],
            preprocessor_ids=tuple(sorted({passage.preprocessor_id for passage in found})),
            updated_at="2020-01-01T00:00:00Z",
        )

    def _count(self, topic: str) -> TopicCount:
        found = [passage for passage in self._passages.values() if topic in passage.topics]
        return TopicCount(topic, len({passage.paper_id for passage in found}), len(found))


def matches(passage: Passage, filters: Filters) -> bool:
    """What every store's filters mean."""
    return (
        (filters.topic is None or filters.topic in passage.topics)
        and (filters.doc_type is None or filters.doc_type == passage.doc_type)
        and filters.preprocessor_id in (None, passage.preprocessor_id)
        and (not filters.paper_ids or passage.paper_id in filters.paper_ids)
        and (
            not filters.paragraph_terms
            or not set(filters.paragraph_terms).isdisjoint(passage.paragraph_terms)
        )
    )
