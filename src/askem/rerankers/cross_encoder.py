"""What all cross-encoders share: pairs that fit the window, one score a passage."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from askem.encoders.windows import Offsets, passage_windows
from askem.errors import ConfigurationError
from askem.models import Passage

MAX_WINDOW = 512
"""Longest pair in tokens, whatever the model takes: time grows with it, and they were trained on
no more."""
_MIN_WINDOW = 32

Run = Callable[[Sequence[Encoding]], NDArray[np.float64]]
"""Tokenized pairs to the model's logits, shape (pairs, labels)."""


class CrossEncoder:
    """Reads question and passage together (Nogueira and Cho 2019): one number says how well the
    passage answers. Thread-safe where `run` is."""

    def __init__(
        self, reranker_id: str, tokenizer: Tokenizer, window_tokens: int, run: Run, *, batch: int
    ) -> None:
        """`window_tokens`: longest pair, special tokens included, at least 32; `batch`: how many
        passages are best read at a time.

        Raises ConfigurationError where the model is not one that scores pairs.
        """
        if window_tokens < _MIN_WINDOW:
            raise ConfigurationError(
                f"reranker {reranker_id}: a window of {window_tokens} tokens is too small for "
                "a question and a passage"
            )
        self.reranker_id = reranker_id
        self.batch = batch
        self._tokenizer = tokenizer
        self._run = run
        special = tokenizer.num_special_tokens_to_add(True)
        self._room = min(window_tokens, MAX_WINDOW) - special
        logits = self._run(tokenizer.encode_batch([("question", "passage")]))
        if logits.shape != (1, 1):
            raise ConfigurationError(
                f"reranker {reranker_id}: a reranker gives one score a pair, this model gives "
                f"numbers of shape {logits.shape[1:]}"
            )

    def rerank(self, question: str, passages: Sequence[Passage]) -> NDArray[np.float64]:
        """Logits, shape (passages,): higher is better. The best window of a passage counts; of a
        question, what fits half a window."""
        if not passages:
            return np.empty(0)
        asked = self._cut(question)
        room = self._room - len(self._offsets(asked))
        windows = [passage_windows(passage.text, self._offsets, room) for passage in passages]
        pairs = [(asked, window) for pieces in windows for window in pieces]
        logits = self._run(self._tokenizer.encode_batch(pairs))[:, 0]
        counts = np.array([len(pieces) for pieces in windows], dtype=np.intp)
        starts = np.cumsum(counts) - counts
        best: NDArray[np.float64] = np.maximum.reduceat(logits, starts)
        return best

    def _cut(self, question: str) -> str:
        offsets = self._offsets(question)
        limit = self._room // 2
        return question if len(offsets) <= limit else question[: offsets[limit - 1][1]]

    def _offsets(self, text: str) -> Offsets:
        offsets: Offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return offsets
