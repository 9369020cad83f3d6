"""The example handbook, ingested and asked as a user would: floors a little under what was
measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from askem.encoders import load_encoder
from askem.ingestion import IngestPipeline, Summary
from askem.ingestion.pages import list_pages
from askem.ingestion.pipeline import SourceInput
from askem.models import Question
from askem.retrieval import Retriever
from askem.stores.embedded import EmbeddedStore
from askem.text.preprocessing import get_preprocessor

ROOT = Path(__file__).parents[2]
GOLDEN = yaml.safe_load((ROOT / "evals/golden/handbook.yaml").read_text("utf-8"))
QUESTIONS = [question for question in GOLDEN["questions"] if not question.get("unanswerable")]


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    encoder = load_encoder(threads=2)
    with EmbeddedStore.open(tmp_path_factory.mktemp("handbook"), encoder) as store:
        pipeline = IngestPipeline(
            encoder=encoder,
            writer=store.writer,
            ledger=store.ledger,
            preprocessor=get_preprocessor("markdown-v1"),
        )
        sources = list_pages(ROOT / "examples/handbook").sources
        inputs = [SourceInput(s.key, s.path.read_bytes(), ("handbook",)) for s in sources]
        assert Summary.of(pipeline.ingest(inputs)).failed == 0
        yield Retriever(
            encoder=encoder, sparse=store.sparse, dense=store.dense, reader=store.reader
        )
    encoder.close()


def test_gold_sections_are_among_the_first_five(retriever: Retriever) -> None:
    right: Counter[str] = Counter()
    for question in QUESTIONS:
        hits = retriever.hybrid(Question(question["question"])).hits
        names = {hit.passage.passage_id for hit in hits}
        held = [gold["passage_id"] in names for gold in question["gold"]]
        right[question["kind"]] += any(held) if question["any"] else all(held)
    assert right["factual"] == 14
    assert right["identifier"] == 12
    assert right["procedural"] >= 8
    assert right["multi-hop"] >= 4
    assert right.total() >= 43
