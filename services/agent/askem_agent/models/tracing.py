"""LangChain without its tracing, whatever the environment says."""

from __future__ import annotations

from contextlib import AbstractContextManager

from langsmith import tracing_context


def untraced() -> AbstractContextManager[None]:
    """Within it nothing is sent to LangSmith. It has to enclose the outermost run (the agent's),
    since runs hand their tracers down."""
    return tracing_context(enabled=False)
