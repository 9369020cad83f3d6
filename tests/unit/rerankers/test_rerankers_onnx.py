"""Cross-encoders in ONNX, on a tiny one whose scores can be told by counting."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from askem.encoders import load_encoder
from askem.errors import ConfigurationError
from askem.http.wire import HybridRequest
from askem.models import Passage
from askem.rerankers import open_reranker
from askem.stores.embedded import EmbeddedStore
from askem.testing.contract import make_source
from askem_retriever.convert import to_question
from askem_retriever.settings import RetrieverSettings
from askem_retriever.wiring import open_components

SEP = 16.0
"""Weight of the token at the end of the second text, of every window."""


def passage(text: str) -> Passage:
    return Passage("a#p0", "a", "paragraph", "v1", 0, text)


def scores(folder: Path, question: str, *texts: str) -> list[float]:
    return list(open_reranker(str(folder)).rerank(question, [passage(text) for text in texts]))


def test_question_and_passage_are_read_as_a_pair(save_model: Any) -> None:
    found = scores(save_model(), "good good", "good good bad", "plain", "bad bad")
    assert found == [SEP + 1, SEP, SEP - 2]


def test_a_model_without_token_types_reads_both(save_model: Any) -> None:
    found = scores(save_model(types=False), "good", "good good", "bad")
    assert found == [8 + 16 + 16 + 1 + 2, 8 + 16 + 16 + 1 - 1]


def test_the_best_window_of_a_long_passage_counts(save_model: Any) -> None:
    long = " ".join(["bad"] * 60) + " . " + " ".join(["good"] * 10)
    found = scores(save_model(window=32), "plain", long, "plain")
    assert found[0] > found[1]


def test_no_pair_is_longer_than_the_window(save_model: Any) -> None:
    """32 tokens, 3 of them special: a question of 50 words is cut to 14, which leaves 15."""
    question, text = " ".join(["good"] * 50), " ".join(["good"] * 40)
    assert scores(save_model(window=32), question, text) == [SEP + 15]
    assert scores(save_model(window=32, types=False), question, text) == [40.0 + 14 + 15]


def test_a_window_without_bound_is_bounded(save_model: Any) -> None:
    """Some tokenizers say 1e30."""
    assert scores(save_model(window=1e30), "plain", " ".join(["good"] * 2000))[0] == SEP + 508


def test_nothing_to_read(save_model: Any) -> None:
    assert open_reranker(str(save_model())).rerank("good", []).shape == (0,)


def test_threads_share_a_reranker(save_model: Any) -> None:
    reranker = open_reranker(str(save_model()))
    texts = [" ".join(["good"] * n) for n in range(1, 40)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda text: reranker.rerank("plain", [passage(text)])[0], texts))
    np.testing.assert_allclose(found, [SEP + n for n in range(1, 40)])


def test_the_id_is_that_of_the_files(save_model: Any) -> None:
    first = open_reranker(str(save_model())).reranker_id
    assert first.startswith("tiny@")
    assert open_reranker(str(save_model())).reranker_id == first
    assert open_reranker(str(save_model(window=64))).reranker_id != first
    assert open_reranker(str(save_model(types=False))).reranker_id != first


def test_the_graph_may_lie_in_a_folder_onnx(save_model: Any) -> None:
    folder = save_model()
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert scores(folder, "plain", "good") == [SEP + 1]


BROKEN: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), r"tokenizer\.json is missing"),
    "no window": (lambda f: (f / "tokenizer_config.json").unlink(), "must say model_max_length"),
    "window in words": (
        lambda f: (f / "tokenizer_config.json").write_text('{"model_max_length": "many"}'),
        "must say model_max_length",
    ),
    "graph garbage": (lambda f: (f / "model.onnx").write_bytes(b"\x01"), "cannot load it"),
    "tokenizer garbage": (lambda f: (f / "tokenizer.json").write_text("{}"), "cannot load it"),
}


@pytest.mark.parametrize(("damage", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_folder_is_an_error_that_says_what_is_wrong(
    save_model: Any, damage: Callable[[Path], Any], message: str
) -> None:
    folder = save_model()
    damage(folder)
    with pytest.raises(ConfigurationError, match=message):
        open_reranker(str(folder))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": 3}, r"one score a pair, this model gives numbers of shape \(3,\)"),
        ({"input_name": "pixels"}, "wants .*pixels"),
        ({"window": 8}, "too small"),
    ],
)
def test_what_is_no_reranker_is_refused(
    save_model: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        open_reranker(str(save_model(**options)))


@pytest.mark.parametrize("spec", ["/nowhere/at/all", "nowhere", "a/b/c"])
def test_a_name_that_is_nothing_is_refused(spec: str) -> None:
    with pytest.raises(ConfigurationError, match="neither a folder with a model nor"):
        open_reranker(spec)


def test_a_server_opens_the_configured_one(save_model: Any, tmp_path: Path) -> None:
    texts = ["Plain masks.", "Good masks, good, good."]
    settings = RetrieverSettings(data_dir=tmp_path / "data", reranker=str(save_model()))
    with closing(load_encoder()) as encoder, EmbeddedStore.open(settings.data_dir, encoder) as s:
        s.writer.replace([make_source("a", texts, encoder)])
    question = to_question(HybridRequest(question="masks"), settings)
    with open_components(settings) as parts:
        result = parts.retriever.hybrid(question)
    assert result.reranked == 2
    # "Good" is not lower-cased by this tokenizer.
    assert [hit.rerank_score for hit in result.hits] == [SEP + 2, SEP]


def test_without_one_nothing_is_opened(tmp_path: Path) -> None:
    settings = RetrieverSettings(data_dir=tmp_path)
    question = to_question(HybridRequest(question="masks"), settings)
    assert question.rerank_top_k == 0
    with open_components(settings) as parts:
        assert parts.retriever.hybrid(question).reranked == 0
