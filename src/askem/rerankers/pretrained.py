"""A cross-encoder in safetensors, run by torch on the CPU (the extra `dpr`)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding

from askem.encoders.pretrained import libraries, load_model, load_tokenizer, where_from
from askem.rerankers.cross_encoder import MAX_WINDOW, CrossEncoder

BATCH = 8
_ALL_OF_IT = ("hidden_act", "layer_norm_eps", "num_attention_heads")
"""What changes scores beside weights and tokenizer."""
_INSTEAD = "put the model's files into a folder and set ASKEM_RERANKER=/that/folder"


def load_pretrained_reranker(name: str, revision: str | None) -> CrossEncoder:
    """A sequence classifier with one label, as `BAAI/bge-reranker-v2-m3` is: an absolute path, or
    a name on the hub and the full commit id that is meant.

    torch's own threads are set to 1, for the whole process. Raises ConfigurationError.
    """
    # First what needs no library: a wrong setting is told without installing 6 GB.
    where = where_from(name, revision, "ASKEM_RERANKER_REVISION", _INSTEAD)
    torch, transformers = libraries("ASKEM_RERANKER without model.onnx")
    torch.set_num_threads(1)
    model = load_model(transformers.AutoModelForSequenceClassification, where, _INSTEAD)
    tokenizer = load_tokenizer(transformers.AutoTokenizer, where, _INSTEAD)
    window = _window(model.config)
    run = _TorchRun(torch, model)
    settings = [window, *(getattr(model.config, name, None) for name in _ALL_OF_IT)]
    digest = hashlib.sha256(f"{settings}{tokenizer.to_str()}".encode())
    for key, tensor in sorted(model.state_dict().items()):
        digest.update(f"{key}{tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().numpy().tobytes())
    reranker_id = f"{Path(name).name}@{digest.hexdigest()[:16]}"
    return CrossEncoder(reranker_id, tokenizer, window, run, batch=BATCH)


def _window(config: Any) -> int:
    """RoBERTa counts positions from its padding token's number on."""
    taken = config.pad_token_id + 1 if "roberta" in config.model_type else 0
    return min(MAX_WINDOW, int(config.max_position_embeddings) - taken)


class _TorchRun:
    def __init__(self, torch: Any, model: Any) -> None:
        self._torch = torch
        self._model = model
        # RoBERTa has one type alone, whatever its tokenizer says.
        self._types = getattr(model.config, "type_vocab_size", 1) > 1
        self._pad = int(model.config.pad_token_id or 0)

    def __call__(self, pairs: Sequence[Encoding]) -> NDArray[np.float64]:
        longest = max(len(pair.ids) for pair in pairs)
        shape = (len(pairs), longest)
        ids, mask, types = np.full(shape, self._pad), np.zeros(shape), np.zeros(shape)
        for row, pair in enumerate(pairs):
            ids[row, : len(pair.ids)] = pair.ids
            mask[row, : len(pair.ids)] = 1
            types[row, : len(pair.ids)] = pair.type_ids
        given = {"input_ids": ids, "attention_mask": mask}
        if self._types:
            given["token_type_ids"] = types
        tensors = {k: self._torch.from_numpy(v.astype(np.int64)) for k, v in given.items()}
        with self._torch.inference_mode():
            logits = self._model(**tensors).logits
        return np.asarray(logits.numpy(), dtype=np.float64)
