"""Encoders: text to unit vectors."""

from askem.encoders.catalogue import load_encoder

__all__ = ["load_encoder"]
