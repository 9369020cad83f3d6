"""The Elasticsearch client inside its breaker, and what its errors mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import elasticsearch as es

from askem.breaker import Breaker, Outage, patiently
from askem.errors import BackendUnavailable

T = TypeVar("T")
BACKEND = "elasticsearch"
_GATEWAY = (502, 503, 504)


class Elastic:
    """Thread-safe. Connects when first asked, never before."""

    def __init__(self, url: str, api_key: str | None, *, timeout_s: float, write_timeout_s: float):
        self._client = es.Elasticsearch(
            url, api_key=api_key, max_retries=0, retry_on_timeout=False, request_timeout=timeout_s
        )
        self._patient = self._client.options(request_timeout=write_timeout_s)
        self.breaker = Breaker(BACKEND)

    def read(self, work: Callable[[es.Elasticsearch], T]) -> T:
        """Raises BackendUnavailable within the time-out, at once while the breaker is open."""
        return self.breaker.call(lambda: translated(work, self._client))

    def write(self, work: Callable[[es.Elasticsearch], T]) -> T:
        """As `once`, through an outage of up to half a minute. `work` must be safe to repeat."""
        return patiently(lambda: self.once(work))

    def once(self, work: Callable[[es.Elasticsearch], T]) -> T:
        """As `read`, with the time that writing takes."""
        return self.breaker.call(lambda: translated(work, self._patient))

    def close(self) -> None:
        self._client.close()


def translated(work: Callable[[es.Elasticsearch], T], client: es.Elasticsearch) -> T:
    """What `work` returns; the client's errors become ours."""
    try:
        return work(client)
    except es.ConnectionTimeout as error:
        raise Outage(BACKEND, "no answer in time") from error
    except es.TransportError as error:
        raise Outage(BACKEND, "cannot be reached", repeat=True) from error
    except es.ApiError as error:
        status = error.status_code
        if status in _GATEWAY:
            raise Outage(BACKEND, f"answered {status}") from error
        if status in (401, 403):
            message = f"refuses the API key ({status}): check ELASTICSEARCH_APIKEY"
        elif status == 404:
            message = "the index does not exist: run `askem schema create`"
        else:
            message = f"answered {status}, {error.error}"
        raise BackendUnavailable(BACKEND, message) from error
    except es.UnsupportedProductError as error:
        raise BackendUnavailable(BACKEND, "what answers is not Elasticsearch") from error


def whole(answer: dict[str, Any]) -> dict[str, Any]:
    """A search's answer, if all shards answered in time. Raises BackendUnavailable."""
    if "error" in answer:
        reason = answer["error"].get("type", "an error")
        if answer.get("status") == 404:
            reason = "the index does not exist: run `askem schema create`"
        raise BackendUnavailable(BACKEND, f"a search failed: {reason}")
    if answer.get("timed_out") or answer.get("_shards", {}).get("failed"):
        raise BackendUnavailable(BACKEND, "not all shards answered in time")
    return answer
