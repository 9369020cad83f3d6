"""Reading what `/v1/embeddings` answered, believing nothing of it."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json


class BadAnswer(Exception):
    """The answer is not what was asked for; the message holds nothing of its content."""


def read_vectors(content: bytes, count: int) -> NDArray[np.float32]:
    """`count` vectors in the order of the texts, shape (count, dimension), finite, none zero.

    Vectors may be lists of numbers or base64 of little-endian float32, and come in any order.
    Raises BadAnswer.
    """
    found: dict[int, NDArray[np.float32]] = {}
    for item in _items(content, count):
        index = item.get("index") if isinstance(item, dict) else None
        if type(index) is not int or not 0 <= index < count or index in found:
            raise BadAnswer("the vectors' indexes are not those of the texts")
        found[index] = _vector(item.get("embedding"))
    if len({vector.shape for vector in found.values()}) > 1:
        raise BadAnswer("the vectors differ in dimension")
    vectors = np.stack([found[index] for index in range(count)])
    if not np.isfinite(vectors).all():
        raise BadAnswer("a vector holds what is no number")
    if not vectors.any(axis=1).all():
        raise BadAnswer("a vector holds nothing but zeros")
    return vectors


def _items(content: bytes, count: int) -> list[Any]:
    try:
        answer = from_json(content)
    except ValueError:
        raise BadAnswer("it is not JSON") from None
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list):
        raise BadAnswer("it has no list of vectors")
    if len(data) != count:
        raise BadAnswer(f"{count} texts were sent, {len(data)} vectors came back")
    return data


def _vector(value: object) -> NDArray[np.float32]:
    if isinstance(value, str):
        return _decoded(value)
    if not isinstance(value, list) or not value or not all(type(n) in (int, float) for n in value):
        raise BadAnswer("a vector is neither numbers nor base64")
    try:
        with np.errstate(over="ignore"):
            return np.array(value, dtype=np.float64).astype(np.float32)
    except OverflowError:
        raise BadAnswer("a vector holds what is no number") from None


def _decoded(value: str) -> NDArray[np.float32]:
    try:
        data = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise BadAnswer("a vector is not valid base64") from None
    if not data or len(data) % 4:
        raise BadAnswer("a vector is not base64 of float32 numbers")
    return np.frombuffer(data, dtype="<f4").astype(np.float32)
