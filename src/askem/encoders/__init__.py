"""Encoders: text to unit vectors."""

from askem.encoders.catalogue import load_encoder
from askem.encoders.configured import open_encoder

__all__ = ["load_encoder", "open_encoder"]
