"""Dense Passage Retrieval (Karpukhin et al. 2020): one BERT for questions, another for passages.

torch and transformers are needed (the extra `dpr`) and loaded when an encoder is made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askem.encoders.dpr_loading import (
    Side,
    libraries,
    load_model,
    load_tokenizer,
    where_from,
)
from askem.encoders.inner_product import (
    augmented_passages,
    augmented_question,
    layer_norm_bound,
    projected_bound,
)
from askem.encoders.windows import Offsets, passage_windows, windows_of
from askem.errors import ConfigurationError
from askem.models import Vector

QUESTION_MODEL = "facebook/dpr-question_encoder-single-nq-base"
PASSAGE_MODEL = "facebook/dpr-ctx_encoder-single-nq-base"
WINDOW_TOKENS = 256
"""Special tokens included; it takes 512, but was trained on 256."""

_QUESTION_CACHE = 4096
_BATCH = 16
_ALL_OF_IT = ("hidden_act", "layer_norm_eps", "num_attention_heads", "projection_dim")
"""What changes vectors beside weights and tokenizer."""


@dataclass(frozen=True, slots=True)
class DprSource:
    """Where the two models are: each a local folder, or a name on the hub with a revision."""

    question: str = QUESTION_MODEL
    passage: str = PASSAGE_MODEL
    question_revision: str | None = None
    """A full commit id, 40 hex digits; a branch or tag could change under an index."""
    passage_revision: str | None = None

    @classmethod
    def folder(cls, folder: Path) -> DprSource:
        """`folder` holds `question_encoder` and `ctx_encoder`. Raises ConfigurationError."""
        # Absolute, by which a folder is told from a name on the hub.
        parts = [folder.resolve() / name for name in ("question_encoder", "ctx_encoder")]
        for part in parts:
            if not part.is_dir():
                raise ConfigurationError(f"ASKEM_ENCODER=dpr:…: the folder {part} is missing")
        return cls(str(parts[0]), str(parts[1]))


class DprEncoder:
    """Both models in this process, on the CPU. A cosine of its vectors is DPR's dot product
    divided by |question| M (docs/decisions/0006-dpr-metric.md); `dimension` is DPR's plus 1.

    torch's own threads are set to 1, for the whole process, when an encoder is made: `threads`
    batches run at a time instead, one thread each.
    """

    def __init__(self, source: DprSource, *, threads: int = 1) -> None:
        """Raises ConfigurationError where the models cannot be loaded as they were saved."""
        question = where_from(source.question, source.question_revision, "question")
        passage = where_from(source.passage, source.passage_revision, "passage")
        libraries()[0].set_num_threads(1)
        self._question, self._passage = _Model(question, "question"), _Model(passage, "passage")
        if self._question.dimension != self._passage.dimension:
            raise ConfigurationError(
                f"{source.question} gives {self._question.dimension} dimensions, "
                f"{source.passage} {self._passage.dimension}: they do not belong together"
            )
        self.dimension = self._passage.dimension + 1
        self.window_tokens = min(self._question.window_tokens, self._passage.window_tokens)
        digests = (self._question.digest, self._passage.digest, WINDOW_TOKENS)
        fingerprint = hashlib.sha256(repr(digests).encode()).hexdigest()
        self.encoder_id = f"dpr@{fingerprint[:16]}"
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="askem-encode")
        self._cached_question = lru_cache(maxsize=_QUESTION_CACHE)(self._encode_question)

    def encode_question(self, text: str) -> Vector:
        """Unit vector, shape (dimension,), its last component 0; read-only. A question beyond
        the window is the normalised mean of its windows."""
        return self._cached_question(text)

    def encode_passages(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """One array of unit vectors a text, shape (windows, dimension), in the order of `texts`.

        A text's vectors differ by about 1e-6 with what it is batched with.
        """
        windows = [self._passage.passage_windows(text) for text in texts]
        flat = [window for pieces in windows for window in pieces]
        # Texts of one length together: a batch is as slow as its longest.
        order = sorted(range(len(flat)), key=lambda i: len(flat[i]))
        batches = [order[start : start + _BATCH] for start in range(0, len(order), _BATCH)]
        encoded = self._pool.map(lambda batch: self._passage([flat[i] for i in batch]), batches)
        vectors = np.empty((len(flat), self.dimension), dtype=np.float32)
        for batch, rows in zip(batches, encoded, strict=True):
            vectors[batch] = augmented_passages(rows, self._passage.bound)
        ends = np.cumsum([len(pieces) for pieces in windows])
        return [vectors[end - len(p) : end] for end, p in zip(ends, windows, strict=True)]

    def close(self) -> None:
        self._pool.shutdown()

    def _encode_question(self, text: str) -> Vector:
        rows = self._question(self._question.windows(text))
        vector = augmented_question(rows.mean(axis=0))
        vector.flags.writeable = False
        return vector


class _Model:
    """One of the two: texts to the rows of its pooler output."""

    def __init__(self, where: dict[str, Any], side: Side) -> None:
        self._torch, transformers = libraries()
        self._model = load_model(transformers, where, side)
        self._tokenizer = load_tokenizer(transformers, where, side)
        config = self._model.config
        self.dimension = int(config.projection_dim or config.hidden_size)
        self.window_tokens = min(WINDOW_TOKENS, int(config.max_position_embeddings))
        self._room = self.window_tokens - self._tokenizer.num_special_tokens_to_add(False)
        self.bound = self._bound(side)
        """No output is longer."""
        self.digest = self._digest()

    def windows(self, text: str) -> list[str]:
        return windows_of(text, self._offsets, self._room)

    def passage_windows(self, text: str) -> list[str]:
        return passage_windows(text, self._offsets, self._room)

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """Shape (texts, dimension), float32; every text fits the window."""
        torch = self._torch
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]
        ids = torch.zeros(len(tokens), max(map(len, tokens)), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, found in enumerate(tokens):
            ids[row, : len(found)] = torch.tensor(found)
            mask[row, : len(found)] = 1
        with torch.inference_mode():
            output = self._model(input_ids=ids, attention_mask=mask, return_dict=True)
        rows: NDArray[np.float32] = output.pooler_output.numpy()
        return rows

    def _offsets(self, text: str) -> Offsets:
        offsets: Offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return offsets

    def _bound(self, side: Side) -> float:
        encoder = self._model.question_encoder if side == "question" else self._model.ctx_encoder
        norm = encoder.bert_model.encoder.layer[-1].output.LayerNorm
        bound = layer_norm_bound(*(_array(parameter) for parameter in (norm.weight, norm.bias)))
        if encoder.projection_dim > 0:
            layer = encoder.encode_proj
            return projected_bound(bound, _array(layer.weight), _array(layer.bias))
        return bound

    def _digest(self) -> str:
        """Of weights, tokenizer and what else decides the vectors, wherever they came from."""
        settings = {name: getattr(self._model.config, name, None) for name in _ALL_OF_IT}
        digest = hashlib.sha256(json.dumps([settings, self.window_tokens], sort_keys=True).encode())
        digest.update(self._tokenizer.to_str().encode())
        for name, tensor in sorted(self._model.state_dict().items()):
            digest.update(f"{name}{tuple(tensor.shape)}".encode())
            digest.update(_array(tensor).tobytes())
        return digest.hexdigest()


def _array(tensor: Any) -> NDArray[Any]:
    array: NDArray[Any] = tensor.detach().numpy()
    return array
