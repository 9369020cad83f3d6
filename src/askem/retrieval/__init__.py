"""Search over ports: vector and hybrid, steering, rankings."""

from askem.retrieval.retriever import Retriever

__all__ = ["Retriever"]
