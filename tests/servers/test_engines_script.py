"""scripts/engines.sh, where its cache is shared by several checkouts through a link."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.servers.control import SCRIPT

pytestmark = pytest.mark.servers


def test_engines_are_known_by_whatever_name_their_cache_has(tmp_path: Path) -> None:
    cache = os.environ.get("ASKEM_ENGINES_CACHE") or SCRIPT.parents[1] / ".cache" / "engines"
    link = tmp_path / "engines"
    link.symlink_to(Path(cache).resolve())
    done = subprocess.run(
        [SCRIPT, "status"],
        env=os.environ | {"ASKEM_ENGINES_CACHE": str(link)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout
