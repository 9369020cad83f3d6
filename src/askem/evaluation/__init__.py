"""Measuring: runs against qrels, and whether a difference is more than chance."""
