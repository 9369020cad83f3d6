"""Tokens used, where the server told them."""

from __future__ import annotations

from typing import Any

from langchain_core.messages.ai import UsageMetadata


def told(raw: Any) -> UsageMetadata | None:
    """The server's `usage`; None where it is absent or incomplete. No prompt has 0 tokens: servers
    that do not count say 0."""
    if not isinstance(raw, dict):
        return None
    read, written = raw.get("prompt_tokens"), raw.get("completion_tokens")
    if not isinstance(read, int) or not isinstance(written, int) or read < 1 or written < 0:
        return None
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)


def total(parts: list[UsageMetadata | None]) -> UsageMetadata | None:
    """The sum; None where one part is not known, since the sum would then be too low."""
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    read = sum(part["input_tokens"] for part in known)
    written = sum(part["output_tokens"] for part in known)
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
