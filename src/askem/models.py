"""The field's nouns, as immutable values shared by every layer. No I/O, no third-party types
but numpy arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""One embedding, shape (dimension,)."""

DocType = Literal["paragraph", "figure", "section"]
DOC_TYPES: tuple[DocType, ...] = ("paragraph", "figure", "section")

Ranking = Literal["proximity", "blend", "rrf", "distance"]
RANKINGS: tuple[Ranking, ...] = ("proximity", "blend", "rrf", "distance")

PAPER_ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"
COSMOS_OBJECT_ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$"
TOPIC_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"


@dataclass(frozen=True, slots=True, order=True)
class SourceKey:
    """One file of a paper: its paragraphs, or one figure; or a page of a handbook, as sections.
    The unit of ingest and of the ledger."""

    paper_id: str
    doc_type: DocType
    cosmos_object_id: str = ""

    def passage_id(self, order: int, anchor: str = "") -> str:
        """The deterministic id of the passage at `order` (from 0) of this source.

        `paper#p3` for paragraphs, `paper#fig-<object>.0` for figures, `page#<anchor>` for sections;
        '#' cannot occur in a paper id, and anchors are never like the first two, so two sources
        never share a passage id.
        """
        if self.doc_type == "section":
            return f"{self.paper_id}#{anchor}"
        if self.doc_type == "paragraph":
            return f"{self.paper_id}#p{order}"
        return f"{self.paper_id}#fig-{self.cosmos_object_id}.{order}"


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph, a figure text or a section: what is searched and returned."""

    passage_id: str
    paper_id: str
    doc_type: DocType
    preprocessor_id: str
    order: int
    """Position within its source, from 0."""
    text: str
    topics: tuple[str, ...] = ()
    cosmos_object_id: str | None = None
    paragraph_terms: tuple[str, ...] = ()
    """Words with more than one capital letter, most frequent first."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which passages may be returned; the same on both legs. Empty means everything.

    Different fields are combined with AND, the values within one field with OR. Values match
    whole and exactly. `topic` is canonical (aliases are resolved at the boundary).
    """

    topic: str | None = None
    doc_type: DocType | None = None
    preprocessor_id: str | None = None
    paragraph_terms: tuple[str, ...] = ()
    paper_ids: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self == Filters()


@dataclass(frozen=True, slots=True)
class Steering:
    """Concepts that pull the question's vector towards or away from them; weights 0..1."""

    move_to: str | None = None
    move_to_weight: float = 0.0
    move_away_from: str | None = None
    move_away_from_weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Question:
    """One search request, checked and canonical."""

    text: str
    top_k: int = 5
    filters: Filters = Filters()
    steering: Steering = Steering()
    max_distance: float | None = None
    """Largest cosine distance (0..2, inclusive) a hit may have; None: no cut."""
    screening_top_k: int = 100
    nearest_top_k: int = 0
    """How many of the nearest passages join those that were screened, whatever their words."""
    rerank_top_k: int = 0
    """How many of the best a reranker puts in its own order; 0: it is not asked."""
    ranking: Ranking = "proximity"
    allow_degraded: bool = False
    """Whether one leg's answer will do where the other's engine cannot answer."""
    repair: bool = False
    """Whether words that the corpus does not have are read as the words they may stand for."""
    nearest: bool = False
    """Whether the nearest passage's distance is wanted where a search is screened."""


@dataclass(frozen=True, slots=True)
class Screened:
    """What the sparse leg found: n passages, best first, and where the question's terms stand.

    The last three arrays are parallel, one entry a term occurrence, sorted by (row, position):
    `hit_rows` indexes `passage_ids`, `hit_positions` counts content tokens from 0, `hit_terms`
    indexes the terms that were asked for.
    """

    passage_ids: list[str]
    bm25: NDArray[np.float64]
    """Shape (n,), higher is better: the sum over the terms of idf tf / (tf + norm)."""
    lengths: NDArray[np.int64]
    """Shape (n,): content tokens of each passage."""
    norms: NDArray[np.float64]
    """Shape (n,): what BM25 makes of the lengths, k1 (1 - b + b length / mean length)."""
    idf: NDArray[np.float64]
    """Shape (terms,): idf of each term asked for, computed for unknown terms too (df = 0)."""
    document_frequency: NDArray[np.int64]
    """Shape (terms,): how many passages of the whole corpus hold the term."""
    hit_rows: NDArray[np.int32]
    hit_positions: NDArray[np.int32]
    hit_terms: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class DenseHits:
    """What the dense leg found, nearest first; `distances` has shape (n,), cosine, 0..2."""

    passage_ids: list[str]
    distances: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage of an answer, with each leg's own figures."""

    passage: Passage
    score: float
    """The ranking's score: higher is better; comparable within one ranking only."""
    distance: float | None
    """True cosine distance to the (steered) question, 0..2: lower is better. None only in a
    degraded answer of the sparse leg alone."""
    bm25: float | None = None
    """None where the sparse leg was not asked (`/vector`) or did not reach the passage."""
    sparse_rank: int | None = None
    """Rank in the sparse leg, from 1; None where the passage joined by its distance."""
    dense_rank: int | None = None
    """Rank by distance among the passages that the dense leg compared, from 1."""
    rerank_score: float | None = None
    """The reranker's, higher is better, comparable within one model only; None where it did not
    read the passage. Hits with one come first, ordered by it."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A word of the question that the corpus does not have, and what it was read as."""

    word: str
    """As it was asked."""
    read_as: str
    """As the hits write it; else a word at edit distance 1 that has the term."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first, and what was done to find them."""

    hits: list[Hit]
    timings_ms: dict[str, float] = field(default_factory=dict)
    """Wall time per stage in milliseconds; stages may overlap."""
    screened: int | None = None
    """How many passages the sparse leg handed on; None when it was not asked."""
    joined: int = 0
    """How many more were ranked since they are among the nearest."""
    terms: tuple[str, ...] = ()
    """The question's content terms, as analysed and repaired."""
    unknown_terms: tuple[str, ...] = ()
    """Those of `terms` that occur nowhere in the corpus."""
    score_scale: float | None = None
    """T, the question's idf mass: the scale of the `proximity` ranking. None on `/vector`."""
    idf: tuple[float, ...] = ()
    """Parallel to `terms`: what T is the sum of."""
    repairs: tuple[Repair, ...] = ()
    nearest_distance: float | None = None
    """Of the nearest passage under the filters, screened or not, and beyond any cut; None where
    there is none, where it was not asked for, and without the dense leg."""
    reranked: int = 0
    """How many of the best a reranker has read."""
    degraded: tuple[str, ...] = ()
    """The engines that could not answer, where the question allowed to go without."""


@dataclass(frozen=True, slots=True)
class CorpusSnapshot:
    """What the corpus held when a question was answered."""

    papers: int
    passages: int
    digest: str
    """Hex digest of every source's key, content hash, preprocessor and topics, in any order."""
    encoder_id: str


@dataclass(frozen=True, slots=True)
class TopicCount:
    topic: str
    papers: int
    passages: int


@dataclass(frozen=True, slots=True)
class PaperSummary:
    """A paper as the stores hold it."""

    paper_id: str
    topics: tuple[str, ...]
    paragraphs: int
    """Passages with doc_type paragraph."""
    figures: int
    """Passages with doc_type figure."""
    preprocessor_ids: tuple[str, ...]
    updated_at: str
    """UTC, ISO 8601."""
    sections: int = 0
    """Passages with doc_type section."""
