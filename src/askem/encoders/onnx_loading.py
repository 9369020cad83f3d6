"""Loading what onnxruntime runs: a model's file, its tokenizer, and proof of which they are."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import onnxruntime
from tokenizers import Tokenizer

from askem.errors import ConfigurationError


def load_tokenizer(path: Path) -> Tokenizer:
    """Raises ConfigurationError."""
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # what tokenizers raises for a file it cannot read
        raise ConfigurationError(f"{path}: tokenizers cannot load it ({error})") from error
    # Files ship with the truncation and padding of their training; windows are made here.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def load_session(path: Path) -> onnxruntime.InferenceSession:
    """Raises ConfigurationError."""
    options = onnxruntime.SessionOptions()
    # One thread a text: two intra-op threads are slower than one under load.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(
            str(path), sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's own exceptions share no public base class
        raise ConfigurationError(f"{path}: onnxruntime cannot load it ({error})") from error


def text_inputs(session: onnxruntime.InferenceSession, path: Path) -> list[str]:
    """Names of the inputs. Raises ConfigurationError for a model that does not read text."""
    names = [node.name for node in session.get_inputs()]
    unknown = set(names) - {"input_ids", "attention_mask", "token_type_ids"}
    if unknown:
        raise ConfigurationError(f"{path}: not a text encoder, it wants {sorted(unknown)}")
    return names


def model_file(folder: Path) -> Path:
    """`model.onnx` of a folder, or `onnx/model.onnx`; whether it exists is for the reader."""
    file = folder / "model.onnx"
    return file if file.is_file() else folder / "onnx" / "model.onnx"


def checked_digest(path: Path, owner: str, expected: Mapping[str, str]) -> str:
    """sha256 of a file, compared with the one `expected` has for its name. `owner`: in errors.
    Raises ConfigurationError."""
    if not path.is_file():
        raise ConfigurationError(f"{owner}: {path} is missing")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    wanted = expected.get(path.name)
    if wanted is not None and digest != wanted:
        raise ConfigurationError(
            f"{owner}: {path} is not the pinned file "
            f"(sha256 {digest[:12]}, expected {wanted[:12]}); reinstall it"
        )
    return digest
