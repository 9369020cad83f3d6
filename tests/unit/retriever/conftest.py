"""A retriever over fakes: a small corpus, a known key, and a hook into every port call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from pydantic import SecretStr

from askem.models import Passage
from askem.retrieval.reranking import Reranking
from askem.retrieval.retriever import Retriever
from askem.testing.fakes import FakeEncoder, FakeReranker, FakeStore, Hook
from askem.testing.inprocess import AppRunner
from askem_retriever.app import create_app
from askem_retriever.readiness import probes
from askem_retriever.settings import RetrieverSettings
from askem_retriever.state import Components

KEY = "test-key-0123456789"

TEXTS = {
    "sidarthe-lombardy": [
        "The SIDARTHE model has eight stages of infection.",
        "Lockdown measures reduced transmission in Lombardy.",
        "Testing and contact tracing changed the reproduction number R0.",
    ],
    "biochar-vineyard": [
        "Biochar raised soil carbon in a vineyard.",
        "The model of soil respiration was fitted by year.",
    ],
    "paper.with.dots-1": ["Tremor of the volcano preceded the eruption."],
}
TOPICS = {
    "sidarthe-lombardy": ("covid-19",),
    "biochar-vineyard": ("soil-carbon",),
    "paper.with.dots-1": ("volcano", "soil-carbon"),
}


def corpus() -> list[Passage]:
    paragraphs = [
        Passage(
            passage_id=f"{paper_id}#p{order}",
            paper_id=paper_id,
            doc_type="paragraph",
            preprocessor_id="papers-v1",
            order=order,
            text=text,
            topics=TOPICS[paper_id],
            paragraph_terms=tuple(
                word for word in text.split() if word.isupper() and len(word) > 1
            ),
        )
        for paper_id, texts in TEXTS.items()
        for order, text in enumerate(texts)
    ]
    figure = Passage(
        passage_id="sidarthe-lombardy#fig-obj1.0",
        paper_id="sidarthe-lombardy",
        doc_type="figure",
        preprocessor_id="figure-v1",
        order=0,
        text="Figure 1: stages of the SIDARTHE model as a graph.",
        topics=("covid-19",),
        cosmos_object_id="obj1",
        paragraph_terms=("SIDARTHE",),
    )
    return [*paragraphs, figure]


def components(
    hook: Hook = lambda _: None, *, empty: bool = False, reranker: bool = False
) -> Components:
    encoder = FakeEncoder(hook=hook)
    store = FakeStore([] if empty else corpus(), encoder, hook=hook)
    return Components(
        retriever=Retriever(
            encoder=encoder,
            sparse=store,
            dense=store,
            reader=store,
            reranking=Reranking(FakeReranker(hook=hook)) if reranker else None,
        ),
        reader=store,
        encoder_id=encoder.encoder_id,
        probes=probes(encoder, store),
    )


@pytest.fixture(autouse=True, scope="session")
def _no_settings_from_outside() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("ASKEM_")]:
            patch.delenv(name)
        yield


OpenApp = Callable[..., AppRunner]


@pytest.fixture
def open_app() -> Iterator[OpenApp]:
    """Opens apps over fakes: `open_app(hook=…, empty=…, **settings)`."""
    opened: list[AppRunner] = []

    def open_one(
        hook: Hook = lambda _: None, *, empty: bool = False, **settings: object
    ) -> AppRunner:
        values = RetrieverSettings(**{"api_key": SecretStr(KEY), "workers": 2, **settings})  # type: ignore[arg-type]
        parts = components(hook, empty=empty, reranker=bool(values.reranker))
        app = create_app(values, parts)
        runner = AppRunner(app, headers={"Api-Key": KEY})
        opened.append(runner.__enter__())
        return runner

    yield open_one
    for runner in opened:
        runner.__exit__(None, None, None)


@pytest.fixture(scope="module")
def door() -> Iterator[AppRunner]:
    """One app for all tests of a module that change nothing."""
    settings = RetrieverSettings(api_key=SecretStr(KEY), workers=2)
    with AppRunner(create_app(settings, components()), headers={"Api-Key": KEY}) as runner:
        yield runner
