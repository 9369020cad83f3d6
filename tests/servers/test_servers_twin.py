"""The example corpus on embedded and on server stores: the same answers to the same questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import pytest

from askem.encoders import load_encoder
from askem.ingestion import IngestPipeline
from askem.ingestion.files import list_sources
from askem.ingestion.pipeline import SourceInput
from askem.models import RANKINGS, DocType, Filters, Question, SearchResult, Steering
from askem.ports import Encoder
from askem.retrieval import Retriever
from askem.stores.embedded import EmbeddedStore
from askem.stores.servers import ServerStore
from askem.text.preprocessing import get_preprocessor

pytestmark = pytest.mark.servers

EXAMPLES = Path(__file__).parents[2] / "examples"
TOPICS = ("covid-19", "soil-carbon")
SOURCES: list[tuple[str, DocType, str]] = [
    ("papers", "paragraph", "papers-v1"),
    ("figures", "figure", "figures-v1"),
]
QUESTIONS = [
    "What is SIDARTHE model?",
    "How many stages does the infection model have?",
    "Does biochar raise soil carbon in vineyards?",
    "wastewater lag between sewershed signal and cases",
    "effect of lockdown on transmission in Lombardy",
    "near-infrared spectroscopy",
    "what is it?",
    "unheard-of xyzzy",
    "SARS-CoV-2 NW-4021 variant",
    "What is the SIDRATHE modle?",
    "biochr in vineyrads, infectoin by COVID19",
]
FILTERS = [
    Filters(),
    Filters(topic="covid-19"),
    Filters(topic="nowhere"),
    Filters(doc_type="figure"),
    Filters(preprocessor_id="papers-v1"),
    Filters(paper_ids=("sidarthe-lombardy", "nowhere")),
    Filters(paragraph_terms=("SIDARTHE", "NIR")),
    Filters(topic="soil-carbon", doc_type="paragraph"),
]
STEERING = [
    Steering(),
    Steering(move_to="vaccination", move_to_weight=0.8),
    Steering(move_away_from="hospitals", move_away_from_weight=0.5),
    Steering("vaccination", 0.4, "hospitals", 1.0),
]
TIE = 1e-6
DISTANCE = 1e-4


@pytest.fixture(scope="module")
def real_encoder() -> Iterator[Encoder]:
    encoder = load_encoder("minilm-int8", threads=2)
    yield encoder
    encoder.close()


@pytest.fixture
def twins(
    tmp_path: Path, open_store: Callable[..., ServerStore], real_encoder: Encoder
) -> Iterator[tuple[Retriever, Retriever]]:
    servers = open_store(real_encoder)
    with EmbeddedStore.open(tmp_path, real_encoder) as embedded:
        for store in (embedded, servers):
            _fill(store, real_encoder)
        assert embedded.reader.topics() == servers.reader.topics()
        one, other = (
            s.reader.papers(topic=None, after=None, limit=100) for s in (embedded, servers)
        )
        assert [replace(p, updated_at="") for p in one] == [
            replace(p, updated_at="") for p in other
        ]
        yield _retriever(embedded, real_encoder), _retriever(servers, real_encoder)


def _fill(store: EmbeddedStore | ServerStore, encoder: Encoder) -> None:
    for folder, doc_type, preprocessor in SOURCES:
        pipeline = IngestPipeline(
            encoder=encoder,
            writer=store.writer,
            ledger=store.ledger,
            preprocessor=get_preprocessor(preprocessor),
        )
        for topic in TOPICS:
            if not (EXAMPLES / folder / topic).is_dir():
                continue
            sources = [
                SourceInput(found.key, found.path.read_bytes(), (topic,))
                for found in list_sources(EXAMPLES / folder / topic, doc_type).sources
            ]
            statuses = {receipt.status for receipt in pipeline.ingest(sources)}
            assert statuses <= {"created"}


def _retriever(store: EmbeddedStore | ServerStore, encoder: Encoder) -> Retriever:
    return Retriever(encoder=encoder, sparse=store.sparse, dense=store.dense, reader=store.reader)


def test_the_twins_agree(twins: tuple[Retriever, Retriever]) -> None:
    asked = reordered = 0
    largest = 0.0
    for text, filters in product(QUESTIONS, FILTERS):
        variants = [Question(text, filters=filters, ranking=ranking) for ranking in RANKINGS]
        variants += [Question(text, filters=filters, steering=steering) for steering in STEERING]
        variants += [
            Question(text, filters=filters, repair=True, nearest=True),
            Question(text, top_k=50, filters=filters, screening_top_k=5),
            Question(text, filters=filters, screening_top_k=5, nearest_top_k=10, nearest=True),
            Question(text, filters=filters, max_distance=0.6),
        ]
        for question, search in product(variants, ("hybrid", "vector")):
            one, other = (getattr(twin, search)(question) for twin in twins)
            largest = max(largest, _same(one, other, question))
            reordered += _ids(one) != _ids(other)
            asked += 1
    print(f"{asked} questions, {reordered} ordered otherwise within ties, distances {largest:.1e}")


def _same(one: SearchResult, other: SearchResult, question: Question) -> float:
    """The largest gap between distances."""
    assert (one.screened, one.joined, one.terms, one.unknown_terms) == (
        other.screened,
        other.joined,
        other.terms,
        other.unknown_terms,
    ), question
    assert sorted(_ids(one)) == sorted(_ids(other)), question
    assert one.idf == pytest.approx(other.idf, abs=1e-9)
    # The words are those of the first hit that has them, and hits that tie may change places.
    words = [[(r.word, r.read_as.lower()) for r in result.repairs] for result in (one, other)]
    assert words[0] == words[1], question
    assert one.nearest_distance == pytest.approx(other.nearest_distance, abs=DISTANCE), question
    scores = {hit.passage.passage_id: hit.score for hit in one.hits}
    in_turn = [scores[passage_id] for passage_id in _ids(other)]
    assert all(a >= b - TIE for a, b in pairwise(in_turn)), question
    first = {hit.passage.passage_id: hit for hit in one.hits}
    gaps = [0.0]
    for hit in other.hits:
        mine = first[hit.passage.passage_id]
        assert hit.passage == mine.passage
        assert hit.bm25 == pytest.approx(mine.bm25, abs=1e-9)
        assert hit.distance is not None
        assert mine.distance is not None
        gaps.append(abs(hit.distance - mine.distance))
    assert max(gaps) < DISTANCE, question
    return max(gaps)


def _ids(result: SearchResult) -> list[str]:
    return [hit.passage.passage_id for hit in result.hits]
