"""Fails when a lock file is not what its source resolves to, or names a registry's address."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

from lock import LOCKS, ROOT, compile_lock

_ADDRESS = re.compile(r"https?://|--(extra-)?index-url|--find-links", re.IGNORECASE)


def pins(text: str) -> str:
    """A lock file without its comments, which name the command's own paths."""
    lines = (line.split("#")[0].rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip())


def main() -> None:
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for source, name in LOCKS.items():
            current = (ROOT / name).read_text(encoding="utf-8")
            if _ADDRESS.search(pins(current)):
                problems.append(f"{name} names an address")
            # A copy of the present pins, so that only a change of the source changes it.
            fresh = Path(folder) / name
            shutil.copy(ROOT / name, fresh)
            compile_lock(source, fresh)
            if pins(fresh.read_text(encoding="utf-8")) != pins(current):
                problems.append(f"{name} is not current: run `make lock`")
    print("\n".join(problems) if problems else f"{len(LOCKS)} lock files are current")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
