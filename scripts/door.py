"""The nginx of deploy/nginx before services on this machine, for tests: other ports and folders,
the same rules."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

NGINX = Path(__file__).resolve().parent.parent / "deploy" / "nginx"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def write_settings(folder: Path, port: int, upstreams: Mapping[str, str]) -> Path:
    """deploy/nginx as it is, but for port, temporary folder and `upstreams` (name to URL)."""
    target = folder / "nginx"
    shutil.copytree(NGINX, target)
    main = target / "nginx.conf"
    text = main.read_text(encoding="utf-8").replace("/tmp/", f"{folder}/")  # noqa: S108
    text = text.replace("listen 4502;", f"listen 127.0.0.1:{port};")
    text = text.replace("    listen [::]:4502;\n", "")
    text = text.replace("/dev/stdout", str(folder / "access.log"))
    main.write_text(text, encoding="utf-8")
    maps = (f'map "" ${name} {{ default "{url}"; }}\n' for name, url in upstreams.items())
    (target / "upstreams.conf").write_text("".join(maps), encoding="utf-8")
    return main


@contextmanager
def open_door(folder: Path, upstreams: Mapping[str, str]) -> Iterator[str]:
    """Runs nginx; gives the URL it answers at. `folder` must be readable by nginx's workers."""
    port = free_port()
    main = write_settings(folder, port, upstreams)
    with (folder / "nginx.log").open("w") as log:
        process = subprocess.Popen(  # noqa: S603 - our own arguments
            [nginx_command(), "-c", str(main), "-g", "daemon off;"], stdout=log, stderr=log
        )
        try:
            _await(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=20)


def nginx_command() -> str:
    """Raises FileNotFoundError where nginx is not installed."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if found is None:
        raise FileNotFoundError("nginx is not installed")
    return found


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
