"""Answers out of passages: picking, refusing, checking what was written against its sources."""
