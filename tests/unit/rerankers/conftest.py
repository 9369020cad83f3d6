"""A tiny cross-encoder in ONNX, written by hand: it adds up the weights of a passage's words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

WEIGHTS = {"[UNK]": 0.0, "[CLS]": 8.0, "[SEP]": 16.0, "good": 1.0, "bad": -1.0, "plain": 0.0}
INT, FLOAT = 7, 1
"""ONNX's numbers of the types int64 and float."""


def number(field: int, value: int) -> bytes:
    """A protobuf field of type varint."""
    return _varint(field << 3) + _varint(value)


def chunk(field: int, content: bytes | str) -> bytes:
    """A protobuf field of type bytes, string or message."""
    data = content.encode() if isinstance(content, str) else content
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def node(kind: str, inputs: Iterable[str], output: str, **attributes: int) -> bytes:
    given = b"".join(
        chunk(5, chunk(1, name) + number(3, value) + number(20, 2))
        for name, value in attributes.items()
    )
    return chunk(
        1, b"".join(chunk(1, i) for i in inputs) + chunk(2, output) + chunk(4, kind) + given
    )


def tensor(name: str, values: np.ndarray) -> bytes:
    kind = INT if values.dtype == np.int64 else FLOAT
    dims = b"".join(number(1, size) for size in values.shape)
    return chunk(5, dims + number(2, kind) + chunk(8, name) + chunk(9, values.tobytes()))


def value_info(field: int, name: str, kind: int) -> bytes:
    dims = chunk(2, chunk(1, chunk(2, "batch")) + chunk(1, chunk(2, "length")))
    return chunk(field, chunk(1, name) + chunk(2, chunk(1, number(1, kind) + dims)))


def model(*, labels: int = 1, types: bool = True, input_name: str = "input_ids") -> bytes:
    """The sum of the words' weights, of the second text alone where `types`; `labels` times."""
    inputs = [input_name, "attention_mask", *(["token_type_ids"] if types else [])]
    steps = [node("Gather", ["table", input_name], "weights")]
    if types:
        steps += [
            node("Cast", ["token_type_ids"], "second", to=FLOAT),
            node("Mul", ["weights", "second"], "own"),
        ]
    summed = "own" if types else "weights"
    steps += [
        node("ReduceSum", [summed, "axes"], "sum", keepdims=1),
        node("Concat", ["sum"] * labels, "logits", axis=1),
    ]
    graph = b"".join(
        [
            *steps,
            chunk(2, "tiny"),
            tensor("table", np.array(list(WEIGHTS.values()), dtype=np.float32)),
            tensor("axes", np.array([1], dtype=np.int64)),
            *(value_info(11, name, INT) for name in inputs),
            value_info(12, "logits", FLOAT),
        ]
    )
    return number(1, 8) + chunk(7, graph) + chunk(8, chunk(1, "") + number(2, 13))


SaveModel = Callable[..., Path]


@pytest.fixture
def save_model(tmp_path: Path) -> SaveModel:
    """`save_model(window=…, **what model() takes)`: a folder as ASKEM_RERANKER names it."""

    def save(*, window: float = 512, **options: object) -> Path:
        folder = tmp_path / "tiny"
        folder.mkdir(exist_ok=True)
        (folder / "model.onnx").write_bytes(model(**options))  # type: ignore[arg-type]
        (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": window}))
        words = {word: i for i, word in enumerate(WEIGHTS)}
        made = Tokenizer(WordLevel(words, unk_token="[UNK]"))
        made.pre_tokenizer = Whitespace()
        made.post_processor = TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
        )
        made.save(str(folder / "tokenizer.json"))
        return folder

    return save
