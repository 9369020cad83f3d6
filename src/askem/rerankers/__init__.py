"""Cross-encoders behind the port `Reranker`: ONNX folders, and transformers with torch."""

from askem.rerankers.configured import open_reranker

__all__ = ["open_reranker"]
