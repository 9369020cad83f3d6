"""The launch test's checks of the server itself: is it there, strict, and ready?"""

from __future__ import annotations

import argparse
import time

import httpx
from launch_report import Failed

LOOK_AT = {
    "encoder": "ASKEM_ENCODER and the service's log",
    "store": "ASKEM_DATA_DIR and the service's log",
    "elasticsearch": "whether Elasticsearch runs, ELASTICSEARCH_URL, ELASTICSEARCH_APIKEY, and "
    "`askem schema status`",
    "weaviate": "whether Weaviate runs, WEAVIATE_URL, WEAVIATE_APIKEY, and `askem schema status`",
}


def _place(name: str, detail: str) -> str:
    if "another encoder" in detail:
        return "ASKEM_ENCODER, and which encoder the index is of"
    return LOOK_AT.get(name.split()[0].lower(), "the service's log")


class ServerChecks:
    """One method a check: returns a remark, raises Failed."""

    def __init__(self, client: httpx.Client, options: argparse.Namespace) -> None:
        self.client = client
        self.options = options

    def answers(self) -> str:
        deadline = time.monotonic() + self.options.wait
        while True:
            try:
                answer = self.client.get("/healthz")
                came_back = f"/healthz gave {answer.status_code}"
                if answer.status_code == 200:
                    return str(self.options.url)
            except httpx.TransportError as error:
                came_back = f"nothing answers at {self.options.url} ({error})"
            if time.monotonic() > deadline:
                raise Failed(came_back, "whether `askem serve` or the proxy before it runs there")
            time.sleep(0.2)

    def key(self) -> None:
        answer = self.client.get("/topics")
        if answer.status_code == 401:
            raise Failed(
                "the server refuses the key of ASKEM_API_KEY: a wrong key, expired or revoked",
                "the key there (`askem keys list`, ASKEM_API_KEY, the file api_key)",
            )
        if answer.status_code == 403:
            raise Failed("the key may not read", "its scopes: `askem keys list`")
        # Whether the engines behind it answer is another check's.
        if answer.status_code not in (200, 503):
            raise Failed(f"/topics gave {answer.status_code}", "the service's log")

    def wrong_key(self) -> None:
        wrong = "wrong-key-" + "0" * 22
        for headers in ({"Api-Key": wrong}, {"Api-Key": ""}):
            answer = self.client.post("/vector", json={"question": "?"}, headers=headers)
            if answer.status_code != 401:
                raise Failed(
                    f"a wrong key got {answer.status_code}, not 401",
                    "what stands between this test and the service",
                )

    def malformed(self) -> None:
        self._refused(b'{"question": ', "a broken body", {400, 422})
        self._refused(b'{"question": "?", "nonsense": 1}', "an unknown field", {422}, "nonsense")
        self._refused(b'{"question": "?", "top_k": 0}', "top_k 0", {422}, "top_k")

    def _refused(self, body: bytes, what: str, status: set[int], names: str = "") -> None:
        json = {"Content-Type": "application/json"}
        answer = self.client.post("/hybrid", content=body, headers=json)
        if answer.status_code not in status or names not in answer.text:
            raise Failed(
                f"{what} got {answer.status_code}: {answer.text[:200]}",
                "the service's version and what stands before it",
            )

    def ready(self) -> str:
        deadline = time.monotonic() + self.options.wait
        while True:
            answer = self.client.get("/readyz")
            if answer.status_code == 200:
                return "; ".join(f"{c['name']}: {c['detail']}" for c in answer.json()["checks"])
            if time.monotonic() > deadline:
                raise self._not_ready(answer)
            time.sleep(0.3)

    @staticmethod
    def _not_ready(answer: httpx.Response) -> Failed:
        try:
            missing = [check for check in answer.json()["checks"] if not check["ok"]]
        except (ValueError, KeyError, TypeError):
            return Failed(f"/readyz gave {answer.status_code}", "the proxy's and service's logs")
        places = [_place(str(check["name"]), str(check["detail"])) for check in missing]
        came_back = ", ".join(f"{check['name']} ({check['detail']})" for check in missing)
        return Failed(f"not working: {came_back}", "; ".join(dict.fromkeys(places)))
