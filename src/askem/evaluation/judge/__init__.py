"""A language model as judge of answers: opt-in, never part of a suite's tables."""
