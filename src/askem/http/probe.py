"""A container's health check: `python -m askem.http.probe` exits 0 when the service answers.

Nothing but the standard library, so that it starts at once; it asks whether the process is alive,
not whether the engines behind it are: restarting a service does not mend its engines.
"""

from __future__ import annotations

import http.client
import os
import sys

_DEFAULT_PORT = 4502


def alive(host: str, port: int, *, timeout_s: float = 3.0) -> bool:
    """Whether `GET /healthz` is answered with 200."""
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def main() -> None:
    port = int(os.environ.get("ASKEM_PORT") or _DEFAULT_PORT)
    sys.exit(0 if alive("127.0.0.1", port) else 1)


if __name__ == "__main__":
    main()
