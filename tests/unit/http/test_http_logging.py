"""What a service's log leaves out."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import logging, sys
from askem.http.server import configure_logging

configure_logging()
for name in sys.argv[1:]:
    logging.getLogger(name).info("a request")
logging.getLogger("elastic_transport.transport").warning("a node failed")
logging.getLogger("askem.ingest").info("told")
"""


@pytest.mark.parametrize("client", ["httpx", "httpx2", "openai", "elastic_transport.transport"])
def test_requests_to_other_services_are_not_logged(client: str) -> None:
    # A process of its own: logging is the process's.
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, client], capture_output=True, text=True, check=True
    )
    assert ran.stderr.endswith("INFO askem.ingest told\n")
    assert ran.stderr.count("\n") == 1
