"""Writes the lock files: every package pinned with hashes, for all platforms, no registry named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Each after those that it names as constraints, so that all come from one resolution.
LOCKS = {
    "requirements.in": "requirements.lock",
    "requirements-servers.in": "requirements-servers.lock",
    "requirements-retriever.in": "requirements-retriever.lock",
    "requirements-ingest.in": "requirements-ingest.lock",
    "requirements-agent.in": "requirements-agent.lock",
    "requirements-dev.in": "requirements-dev.lock",
    "requirements-encoder.in": "requirements-encoder.lock",
    "requirements-dpr.in": "requirements-dpr.lock",
    "requirements-deploy.in": "requirements-deploy.lock",
}


def compile_lock(source: str, output: Path, *options: str) -> None:
    """Resolves `source` into `output`; pins that `output` already holds are kept.

    Raises CalledProcessError where it cannot be resolved.
    """
    command = [
        str(Path(sys.executable).with_name("uv")),
        "pip",
        "compile",
        source,
        "--output-file",
        str(output),
        "--universal",
        "--python-version=3.11",
        "--generate-hashes",
        "--no-emit-index-url",
        "--no-emit-find-links",
        "--no-emit-package=askem",
        "--no-emit-package=askem-retriever",
        "--no-emit-package=askem-ingest",
        "--no-emit-package=askem-agent",
        "--custom-compile-command=make lock",
        "--quiet",
        *(["--no-deps"] if "encoder" in source else []),
        *options,
    ]
    subprocess.run(command, check=True, cwd=ROOT)  # noqa: S603 - our own arguments


def main() -> None:
    for source, output in LOCKS.items():
        compile_lock(source, ROOT / output, *sys.argv[1:])
        print(f"wrote {output}")


if __name__ == "__main__":
    main()
