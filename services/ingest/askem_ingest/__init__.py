"""Askem's ingest service: files of papers and figures into searchable passages."""
