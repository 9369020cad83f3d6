"""From a name to a reranker. Adapters that need further packages are imported when chosen."""

from __future__ import annotations

from pathlib import Path

from askem.encoders.onnx_loading import model_file
from askem.errors import ConfigurationError
from askem.ports import Reranker
from askem.rerankers.onnx import load_onnx_reranker


def open_reranker(spec: str, *, revision: str | None = None) -> Reranker:
    """The cross-encoder that `spec` names: a folder with a model in ONNX, or in safetensors; or
    a model on the hub, of which `revision` is the full commit id.

    Raises ConfigurationError.
    """
    folder = Path(spec).expanduser()
    if folder.is_dir() and model_file(folder).is_file():
        return load_onnx_reranker(folder.resolve())
    if not folder.is_dir() and (folder.is_absolute() or spec.count("/") != 1):
        raise ConfigurationError(
            f"ASKEM_RERANKER: {spec!r} is neither a folder with a model nor the name of one on "
            "the hub (owner/name)"
        )
    from askem.rerankers.pretrained import load_pretrained_reranker

    name = str(folder.resolve()) if folder.is_dir() else spec
    return load_pretrained_reranker(name, revision)
