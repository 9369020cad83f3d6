"""Checks the deployment files: compose against its specification, Kubernetes against its schemas,
nginx by itself, and all of them against the rules of docs/operations.md, "Containers"."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml
from door import nginx_command, write_settings

ROOT = Path(__file__).resolve().parent.parent
CHECKS = ROOT / "deploy" / "checks"
ENGINES = {"weaviate", "elasticsearch"}
# Its start script writes a keystore below config/.
MAY_WRITE = {"elasticsearch"}
KUBERNETES_VERSION = "1.34"
SECRETS = {
    "ASKEM_API_KEY",
    "ELASTICSEARCH_APIKEY",
    "ELASTICSEARCH_READ_APIKEY",
    "ELASTIC_PASSWORD",
    "WEAVIATE_APIKEY",
    "WEAVIATE_READ_APIKEY",
}
SECRET_NAME = re.compile(r"(KEYS?|PASSWORD|TOKEN)$")
# What each secret is while the files are checked.
STAND_IN = "x" * 24
REQUIRED = re.compile(r"\$\{([A-Z_]+):\?")


def go(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs `go` in the module of these checks' tools. Raises FileNotFoundError without Go."""
    return subprocess.run(  # noqa: S603 - our own arguments
        ["go", *arguments],  # noqa: S607
        cwd=CHECKS,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def compose(files: list[str], settings: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Docker's own reading of the files, its specification's schema included."""
    names = required_settings()
    # Nor those that may hold a secret of whoever checks.
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in names and not name.startswith("OPENAI_")
    }
    env = kept | settings
    return go("run", "./compose", *(str(ROOT / file) for file in files), env=env)


def required_settings() -> list[str]:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    return sorted(set(REQUIRED.findall(text)))


def compose_needs_secrets() -> Iterator[str]:
    """No secret by default: without any one of them compose must stop and name it."""
    names = required_settings()
    if set(names) != SECRETS:
        yield f"not required, or not known here: {sorted(set(names) ^ SECRETS)}"
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    for missing in names:
        given = {name: STAND_IN for name in names if name != missing}
        done = compose(["docker-compose.yml"], given)
        if done.returncode == 0 or missing not in done.stderr:
            yield f"without {missing} compose goes on: {done.stderr[:200]}"
        if f"{missing}=" not in example:
            yield f".env.example says nothing of {missing}"


def compose_rules() -> Iterator[str]:
    for files in (
        ["docker-compose.yml"],
        ["docker-compose.yml", "deploy/compose.one-host.yml"],
    ):
        done = compose(files, dict.fromkeys(required_settings(), STAND_IN))
        if done.returncode:
            yield f"{files}: {done.stderr}"
            continue
        for name, service in json.loads(done.stdout)["services"].items():
            for problem in compose_service(name, service, one_host=len(files) > 1):
                yield f"{files[-1]}: {name}: {problem}"


def compose_service(name: str, service: dict[str, Any], *, one_host: bool) -> Iterator[str]:
    if service.get("cap_drop") != ["ALL"]:
        yield "keeps capabilities"
    if service.get("security_opt") != ["no-new-privileges:true"]:
        yield "may gain privileges"
    if not service.get("read_only") and name not in MAY_WRITE:
        yield "has a file system that can be written"
    if "healthcheck" not in service and "build" not in service:
        yield "has no health check"
    if name in ENGINES and set(service["networks"]) != {"engines"}:
        yield "an engine in another network than `engines`"
    if name == "agent" and "engines" in service["networks"]:
        yield "reaches the engines"
    if name == "ingest" and (service["build"]["args"].get("WITH_AGENT") == "1") != one_host:
        yield "has the agent in its image, or lacks it where one process answers everything"
    if service.get("ports") and name != ("ingest" if one_host else "nginx"):
        yield "has a port of its own to the outside"
    for setting, value in (service.get("environment") or {}).items():
        if SECRET_NAME.search(setting) and value.replace(STAND_IN, "").strip(","):
            yield f"{setting} has its value in the file"
    if ":latest" in service["image"] and "build" not in service:
        yield "has no version"


def kubernetes_documents() -> list[dict[str, Any]]:
    built = go("tool", "kustomize", "build", str(ROOT / "deploy" / "kubernetes"))
    if built.returncode:
        raise RuntimeError(built.stderr)
    return list(yaml.safe_load_all(built.stdout))


def kubernetes() -> Iterator[str]:
    documents = kubernetes_documents()
    policies = set()
    for document in documents:
        where = f"{document['kind']}/{document['metadata']['name']}"
        try:
            kubernetes_validate.validate(document, KUBERNETES_VERSION, strict=True)
        except kubernetes_validate.ValidationError as error:
            yield f"{where}: {'.'.join(map(str, error.path))}: {error.message}"
        if document["kind"] == "Secret":
            yield f"{where}: a secret must be named here, never made"
        if document["metadata"].get("namespace"):
            yield f"{where}: names a namespace"
        if document["kind"] == "NetworkPolicy":
            policies.add(document["metadata"]["name"])
    for document in documents:
        if document["kind"] in ("Deployment", "StatefulSet"):
            name = document["metadata"]["name"]
            for problem in pod(name, document["spec"]["template"]["spec"]):
                yield f"{name}: {problem}"
            if name not in policies:
                yield f"{name}: has no network policy"


def pod(name: str, spec: dict[str, Any]) -> Iterator[str]:
    if not spec["securityContext"].get("runAsNonRoot"):
        yield "may run as root"
    if spec.get("automountServiceAccountToken") is not False:
        yield "is given a token of the cluster"
    for container in spec["containers"]:
        context = container.get("securityContext", {})
        if context.get("capabilities") != {"drop": ["ALL"]}:
            yield "keeps capabilities"
        if context.get("allowPrivilegeEscalation") is not False:
            yield "may gain privileges"
        if not context.get("readOnlyRootFilesystem") and name not in MAY_WRITE:
            yield "has a file system that can be written"
        if not container.get("resources", {}).get("limits", {}).get("memory"):
            yield "has no bound on its memory"
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            if probe not in container:
                yield f"has no {probe}"
        for setting in container.get("env", []):
            # $(NAME) is put together from other settings.
            given = re.sub(r"\$\(\w+\)|,", "", setting.get("value", ""))
            if SECRET_NAME.search(setting["name"]) and given:
                yield f"{setting['name']} has its value in the manifest"
        if not re.search(r":[0-9]", container["image"]):
            yield f"the image {container['image']} has no version"


def nginx() -> Iterator[str]:
    """`nginx -t`, for compose and for Kubernetes; names of services stand for this machine."""
    for source in (None, ROOT / "deploy" / "kubernetes" / "upstreams.conf"):
        with tempfile.TemporaryDirectory() as name:
            settings = write_settings(Path(name), 4502, {})
            upstreams = settings.with_name("upstreams.conf")
            shutil.copy(source or ROOT / "deploy" / "nginx" / "upstreams.conf", upstreams)
            if source:
                text = re.sub(r"server \w+:", "server 127.0.0.1:", upstreams.read_text("utf-8"))
                upstreams.write_text(text, "utf-8")
            done = subprocess.run(  # noqa: S603 - our own arguments
                [nginx_command(), "-t", "-q", "-c", str(settings)],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                yield done.stderr


def main() -> None:
    checks: list[tuple[str, Callable[[], Iterator[str]], str]] = [
        ("compose: rules", compose_rules, "go"),
        ("compose: no default secrets", compose_needs_secrets, "go"),
        ("kubernetes", kubernetes, "go"),
        ("nginx", nginx, "nginx"),
    ]
    failed = False
    for name, check, needs in checks:
        try:
            problems = list(check())
        except FileNotFoundError:
            problems = [f"please install {needs}"]
        except RuntimeError as error:
            problems = [str(error)]
        failed = failed or bool(problems)
        print(f"{'FAIL' if problems else 'PASS'} {name}")
        for problem in problems:
            print(f"  {problem.strip()}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
