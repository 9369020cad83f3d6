"""Askem: ask questions of a scientific literature, get the passages that answer them."""

__version__ = "0.1.0"
