"""Fails when a lock file is not what its source resolves to, names a registry's address, or has
another version of a package than the others have."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lock import LOCKS, ROOT, compile_lock

# Has every package but the packaged encoder's and those for deployment files.
_ALL = "requirements-dev.lock"
_ADDRESS = re.compile(r"https?://|--(extra-)?index-url|--find-links", re.IGNORECASE)


def pins(text: str) -> str:
    """A lock file without its comments, which name the command's own paths."""
    lines = (line.split("#")[0].rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip())


def versions(text: str) -> dict[str, set[str]]:
    """Of each package; several where they depend on the platform."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE):
        found.setdefault(name, set()).add(version)
    return found


def disagreements() -> Iterator[str]:
    """Packages that a lock has in a version that requirements-dev.lock has not."""
    known = versions((ROOT / _ALL).read_text(encoding="utf-8"))
    for name in LOCKS.values():
        for package, pinned in versions((ROOT / name).read_text(encoding="utf-8")).items():
            if not pinned <= known.get(package, pinned):
                yield f"{name} has {package} {', '.join(sorted(pinned))}, not as {_ALL}"


def main() -> None:
    problems = list(disagreements())
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
