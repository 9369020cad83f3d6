"""What comparing everything that a store holds found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VerifyReport:
    sources: int
    passages: int
    """Passages in the store that is the truth."""
    sparse: int
    """Those of them that the sparse index holds, less what it holds beyond them."""
    dense: int
    """Those of them whose vectors are as they were written."""
    findings: list[str]

    @property
    def agrees(self) -> bool:
        return not self.findings
