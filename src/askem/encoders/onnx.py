"""A sentence encoder in ONNX, run by onnxruntime on the CPU."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askem.encoders.onnx_loading import (
    checked_digest,
    load_session,
    load_tokenizer,
    text_inputs,
)
from askem.encoders.vectors import unit
from askem.encoders.windows import Offsets, passage_windows, windows_of
from askem.errors import ConfigurationError
from askem.models import Vector

Pooling = Literal["mean", "cls"]

_QUESTION_CACHE = 4096
_MIN_ROOM = 4
"""Tokens that one character may need."""


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """Where a model's files are and how its output becomes a vector."""

    name: str
    model_file: Path
    tokenizer_file: Path
    window_tokens: int
    """Longest input, special tokens included; a longer text is split into several."""
    pooling: Pooling
    question_prefix: str = ""
    passage_prefix: str = ""
    expected_sha256: dict[str, str] = field(default_factory=dict)
    """File name to full digest, for models that come as pinned packages."""


class OnnxEncoder:
    """Encodes with batches of one: measured faster than padded batches on the CPU, and a text's
    vector does not depend on its neighbours. `threads` texts are encoded at a time."""

    def __init__(self, model: OnnxModel, *, threads: int = 1) -> None:
        """Raises ConfigurationError where a file is missing, altered or not a sentence encoder."""
        digests = [
            checked_digest(file, f"encoder {model.name}", model.expected_sha256)
            for file in (model.model_file, model.tokenizer_file)
        ]
        self._model = model
        self._tokenizer = load_tokenizer(model.tokenizer_file)
        self._session = load_session(model.model_file)
        self._inputs = text_inputs(self._session, model.model_file)
        self._special = self._tokenizer.num_special_tokens_to_add(False)
        for prefix in (model.question_prefix, model.passage_prefix):
            if self._room(prefix) < _MIN_ROOM:
                raise ConfigurationError(
                    f"encoder {model.name}: a window of {model.window_tokens} tokens leaves no "
                    f"room for text beside the prefix {prefix!r}"
                )
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="askem-encode")
        settings = (model.window_tokens, model.pooling, model.question_prefix, model.passage_prefix)
        fingerprint = hashlib.sha256(repr((digests, settings)).encode()).hexdigest()
        self.encoder_id = f"{model.name}@{fingerprint[:16]}"
        self.dimension = len(self._encode("dimension"))
        self.window_tokens = model.window_tokens
        self._cached_question = lru_cache(maxsize=_QUESTION_CACHE)(self._encode_question)

    def encode_question(self, text: str) -> Vector:
        """Unit vector, shape (dimension,); read-only. A question beyond the window is the
        normalised mean of its windows."""
        return self._cached_question(text)

    def encode_passages(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """One array a text, shape (windows, dimension), in the order of `texts`."""
        prefix = self._model.passage_prefix
        room = self._room(prefix)
        windows = [passage_windows(text, self._offsets, room) for text in texts]
        flat = [prefix + window for pieces in windows for window in pieces]
        vectors = iter(list(self._pool.map(self._encode, flat)))
        return [np.vstack([next(vectors) for _ in pieces]) for pieces in windows]

    def windows(self, text: str, prefix: str = "") -> list[str]:
        """The pieces of a text that are encoded one by one; one piece where it fits."""
        return windows_of(text, self._offsets, self._room(prefix))

    def close(self) -> None:
        self._pool.shutdown()

    def _room(self, prefix: str) -> int:
        """Tokens of a window that are left for text."""
        used = len(self._tokenizer.encode(prefix, add_special_tokens=False).ids) if prefix else 0
        return self._model.window_tokens - self._special - used

    def _offsets(self, text: str) -> Offsets:
        offsets: Offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return offsets

    def _encode_question(self, text: str) -> Vector:
        prefix = self._model.question_prefix
        parts = [self._encode(prefix + window) for window in self.windows(text, prefix)]
        vector = parts[0] if len(parts) == 1 else unit(np.mean(parts, axis=0))
        vector.flags.writeable = False
        return vector

    def _encode(self, text: str) -> Vector:
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        every = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        output = self._session.run(None, {name: every[name] for name in self._inputs})[0]
        return unit(_pooled(output, self._model.pooling))


def _pooled(output: NDArray[np.float32], pooling: Pooling) -> NDArray[np.float32]:
    """(1, tokens, dimension) or, where the model pools itself, (1, dimension) to (dimension,)."""
    states = np.asarray(output[0], dtype=np.float32)
    if states.ndim == 1:
        return states
    return np.asarray(states[0] if pooling == "cls" else states.mean(axis=0))
