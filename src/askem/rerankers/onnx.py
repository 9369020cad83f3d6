"""A cross-encoder in ONNX, run by onnxruntime on the CPU."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding

from askem.encoders.onnx_loading import (
    checked_digest,
    load_session,
    load_tokenizer,
    model_file,
    text_inputs,
)
from askem.errors import ConfigurationError
from askem.rerankers.cross_encoder import CrossEncoder


def load_onnx_reranker(folder: Path) -> CrossEncoder:
    """The model of a folder with `model.onnx` (or `onnx/model.onnx`), `tokenizer.json` and
    `tokenizer_config.json` (model_max_length). Raises ConfigurationError."""
    model, tokenizer = model_file(folder), folder / "tokenizer.json"
    owner = f"reranker {folder.name}"
    # Models of more than 2 GB keep their weights beside the graph.
    files = [model, *sorted(model.parent.glob("model.onnx?*")), tokenizer]
    digests = [checked_digest(file, owner, {}) for file in files]
    window = window_tokens(folder)
    fingerprint = hashlib.sha256(repr((digests, window)).encode()).hexdigest()
    return CrossEncoder(
        f"{folder.name}@{fingerprint[:16]}",
        load_tokenizer(tokenizer),
        window,
        _OnnxRun(model),
        batch=1,
    )


def window_tokens(folder: Path) -> int:
    """The longest input that the tokenizer's settings allow. Raises ConfigurationError."""
    path = folder / "tokenizer_config.json"
    try:
        value = json.loads(path.read_text(encoding="utf-8"))["model_max_length"]
        return int(value)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigurationError(
            f"{path}: must say model_max_length, the longest input in tokens ({error!r})"
        ) from error


class _OnnxRun:
    """Pairs one by one: without padding, so that a score does not depend on its neighbours."""

    def __init__(self, model: Path) -> None:
        self._session = load_session(model)
        self._inputs = text_inputs(self._session, model)

    def __call__(self, pairs: Sequence[Encoding]) -> NDArray[np.float64]:
        return np.concatenate([self._logits(pair) for pair in pairs])

    def _logits(self, pair: Encoding) -> NDArray[np.float64]:
        every = {
            "input_ids": pair.ids,
            "attention_mask": pair.attention_mask,
            "token_type_ids": pair.type_ids,
        }
        given = {name: np.array([every[name]], dtype=np.int64) for name in self._inputs}
        return np.asarray(self._session.run(None, given)[0], dtype=np.float64).reshape(1, -1)
