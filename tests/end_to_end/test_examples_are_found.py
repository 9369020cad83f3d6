"""The examples, ingested and asked as a user would: floors a little under what was measured."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from askem.encoders import load_encoder
from askem.ingestion import IngestPipeline, Summary
from askem.ingestion.files import list_sources
from askem.ingestion.pipeline import SourceInput
from askem.models import Filters, Question, SearchResult, Steering
from askem.retrieval import Retriever
from askem.stores.embedded import EmbeddedStore
from askem.text.preprocessing import get_preprocessor

ROOT = Path(__file__).parents[2]
QUESTIONS = [
    question
    for question in yaml.safe_load((ROOT / "evals/golden/papers.yaml").read_text("utf-8"))[
        "questions"
    ]
    if not question.get("unanswerable")
]
KINDS = (("papers", "paragraph", "papers-v1"), ("figures", "figure", "figures-v1"))


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    encoder = load_encoder(threads=2)
    with EmbeddedStore.open(tmp_path_factory.mktemp("examples"), encoder) as store:
        for folder, doc_type, preprocessor in KINDS:
            pipeline = IngestPipeline(
                encoder=encoder,
                writer=store.writer,
                ledger=store.ledger,
                preprocessor=get_preprocessor(preprocessor),
            )
            for topic in sorted((ROOT / "examples" / folder).iterdir()):
                sources = list_sources(topic, doc_type).sources
                inputs = [SourceInput(s.key, s.path.read_bytes(), (topic.name,)) for s in sources]
                assert Summary.of(pipeline.ingest(inputs)).failed == 0
        yield Retriever(
            encoder=encoder, sparse=store.sparse, dense=store.dense, reader=store.reader
        )
    encoder.close()


def tokens(text: str) -> str:
    return " " + " ".join(re.findall(r"[^\W_]+", text.lower())) + " "


def found(question: dict[str, Any], hits: list[tuple[str, str]]) -> bool:
    held = [
        any(paper == gold["paper_id"] and tokens(gold["quote"]) in text for paper, text in hits)
        for gold in question["gold"]
    ]
    return any(held) if question["any"] else all(held)


def count(retriever: Retriever, mode: str) -> Counter[str]:
    """How many questions of each kind have their gold in the first five."""
    right: Counter[str] = Counter()
    for question in QUESTIONS:
        result = getattr(retriever, mode)(Question(question["question"]))
        hits = [(hit.passage.paper_id, tokens(hit.passage.text)) for hit in result.hits]
        right[question["kind"]] += found(question, hits)
    return right


def test_hybrid_finds_what_shares_words(retriever: Retriever) -> None:
    right = count(retriever, "hybrid")
    assert right["factual"] == 15
    assert right["identifier"] >= 18
    assert right["procedural"] >= 8
    assert right["multi-hop"] >= 5
    assert right.total() >= 53


def test_vector_finds_what_shares_none(retriever: Retriever) -> None:
    assert count(retriever, "vector")["semantic"] >= 15


def test_steering_brings_a_concept_nearer(retriever: Retriever) -> None:
    """The hit for one topic's concept moves up when an open question is steered towards it."""
    open_question = "What did the measurements show?"
    plain = retriever.vector(Question(open_question, top_k=100))
    steering = Steering(move_to="volcanic gas measured by drones", move_to_weight=1.0)
    steered = retriever.vector(Question(open_question, top_k=100, steering=steering))

    def best(result: SearchResult) -> int:
        ids = [hit.passage.paper_id for hit in result.hits]
        return ids.index("so2-drone-plume")

    assert best(steered) == 0 < best(plain)


def test_filters_hold(retriever: Retriever) -> None:
    result = retriever.hybrid(
        Question("What was measured?", top_k=100, filters=Filters(topic="soil-carbon"))
    )
    assert result.hits
    assert {hit.passage.topics for hit in result.hits} == {("soil-carbon",)}
