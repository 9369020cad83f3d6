"""Cross-encoders through transformers and torch, on tiny random checkpoints that are made here.

`make test-dpr` runs these; the last few need neither library and run by default.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from askem.errors import ConfigurationError
from askem.models import Passage
from askem.rerankers import open_reranker

COMMIT = "0123456789abcdef0123456789abcdef01234567"
WORDS = "the virus spreads by air masks filter droplets in rooms".split()
TEXTS = ["The virus spreads by air.", "Masks filter droplets in rooms.", "Air in rooms."]
QUESTION = "virus in the air"
_PLAIN = {"input_ids", "attention_mask"}
_INPUTS = {"bert": _PLAIN | {"token_type_ids"}, "xlm-roberta": _PLAIN}
needs_torch = pytest.mark.dpr


def save_model(folder: Path, *, labels: int = 1, seed: int = 3) -> Path:
    """A tiny random BERT in the layout of the real ones."""
    import torch
    import transformers

    listed = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *WORDS]
    config = transformers.BertConfig(
        vocab_size=len(listed),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
        initializer_range=0.4,
        num_labels=labels,
    )
    torch.manual_seed(seed)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    words = {word: number for number, word in enumerate(listed)}
    transformers.BertTokenizerFast(vocab=words).save_pretrained(folder)
    return folder


def save_roberta(folder: Path) -> Path:
    """The architecture of `BAAI/bge-reranker-v2-m3`: positions from 2 on, one token type, and
    two separators in a pair."""
    import tokenizers
    import torch
    import transformers

    listed = ["<s>", "<pad>", "</s>", "<unk>", *TEXTS[0].split(), *WORDS]
    words = {word: number for number, word in enumerate(dict.fromkeys(listed))}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    config = transformers.XLMRobertaConfig(
        vocab_size=len(words),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=42,
        type_vocab_size=1,
        initializer_range=0.4,
        num_labels=1,
        pad_token_id=1,
    )
    torch.manual_seed(5)
    transformers.XLMRobertaForSequenceClassification(config).save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", unk_token="<unk>"
    ).save_pretrained(folder)
    return folder


def passages(*texts: str) -> list[Passage]:
    return [Passage(f"a#p{i}", "a", "paragraph", "v1", i, text) for i, text in enumerate(texts)]


def by_hand(folder: Path, question: str, texts: list[str]) -> np.ndarray:
    """As transformers' own documentation gets the scores, one pair at a time."""
    import torch
    import transformers

    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        pairs = [tokenizer(question, text, return_tensors="pt") for text in texts]
        given = [
            {k: v for k, v in p.items() if k in _INPUTS[model.config.model_type]} for p in pairs
        ]
        found = [model(**inputs).logits[0] for inputs in given]
    scores: np.ndarray = torch.cat(found).double().numpy()
    return scores


@needs_torch
def test_scores_are_those_of_the_model(tmp_path: Path) -> None:
    folder = save_model(tmp_path / "model")
    reranker = open_reranker(str(folder))
    found = reranker.rerank(QUESTION, passages(*TEXTS))
    np.testing.assert_allclose(found, by_hand(folder, QUESTION, TEXTS), atol=1e-5)
    assert len(set(found.round(4))) == len(TEXTS)


@needs_torch
def test_a_roberta_fills_its_window_and_no_more(tmp_path: Path) -> None:
    folder = save_roberta(tmp_path / "model")
    reranker = open_reranker(str(folder))
    found = reranker.rerank(QUESTION, passages(*TEXTS))
    np.testing.assert_allclose(found, by_hand(folder, QUESTION, TEXTS), atol=1e-5)
    # 40 tokens, 4 special, 4 of the question: windows of 32, the longest a position short of none.
    words = " ".join(WORDS[:8] * 4)
    (whole,) = reranker.rerank(QUESTION, passages(words))
    assert whole == pytest.approx(by_hand(folder, QUESTION, [words])[0], abs=1e-5)
    reranker.rerank(QUESTION, passages(" ".join([words, *WORDS])))


@needs_torch
def test_the_best_window_of_a_long_passage_counts(tmp_path: Path) -> None:
    folder = save_model(tmp_path / "model")
    # 40 tokens, 3 special, 4 of the question: windows of 33.
    first, second = " ".join(WORDS[:3] * 11), " ".join(WORDS[4:7] * 11)
    (found,) = open_reranker(str(folder)).rerank(QUESTION, passages(f"{first} {second}"))
    assert found == pytest.approx(by_hand(folder, QUESTION, [first, second]).max(), abs=1e-5)


@needs_torch
def test_the_id_is_that_of_weights_and_tokenizer(tmp_path: Path) -> None:
    first = open_reranker(str(save_model(tmp_path / "a" / "model"))).reranker_id
    assert first.startswith("model@")
    assert open_reranker(str(save_model(tmp_path / "b" / "model"))).reranker_id == first
    other = save_model(tmp_path / "c" / "model", seed=4)
    assert open_reranker(str(other)).reranker_id != first


@needs_torch
def test_a_classifier_of_several_labels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="one score a pair"):
        open_reranker(str(save_model(tmp_path, labels=3)))


@needs_torch
def test_weights_that_are_missing_are_never_left_random(tmp_path: Path) -> None:
    import transformers

    folder = save_model(tmp_path)
    bare = transformers.BertModel.from_pretrained(folder)
    bare.save_pretrained(folder)
    with pytest.raises(ConfigurationError, match="weights are missing"):
        open_reranker(str(folder))


# Without torch


@pytest.mark.parametrize("revision", [None, "main", COMMIT[:12]])
def test_a_hub_name_needs_a_full_commit_id(revision: str | None) -> None:
    with pytest.raises(ConfigurationError, match="ASKEM_RERANKER_REVISION") as caught:
        open_reranker("BAAI/bge-reranker-v2-m3", revision=revision)
    assert "ASKEM_RERANKER=/that/folder" in str(caught.value)


def test_only_safetensors_are_read(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(ConfigurationError, match=r"holds no model\.safetensors"):
        open_reranker(str(tmp_path))


def test_what_to_install_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigurationError, match=r"pip install .* requirements-dpr\.lock"):
        open_reranker(str(tmp_path))
