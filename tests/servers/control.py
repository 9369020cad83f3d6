"""Stops, halts and starts the engines that the tests run against."""

from __future__ import annotations

import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "engines.sh"


def control(command: str, engine: str) -> None:
    """`stop`, `start`, `kill`, `pause` or `resume`."""
    done = subprocess.run(
        [SCRIPT, command, engine], capture_output=True, text=True, check=False, timeout=180
    )
    assert done.returncode == 0, done.stderr
