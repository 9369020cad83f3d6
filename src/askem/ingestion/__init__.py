"""From files to searchable passages, with a receipt for each."""

from askem.ingestion.pipeline import IngestPipeline
from askem.ingestion.receipts import Receipt, Summary

__all__ = ["IngestPipeline", "Receipt", "Summary"]
