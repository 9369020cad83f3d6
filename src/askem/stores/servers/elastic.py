"""The Elasticsearch client inside its breaker, and what its errors mean."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import elasticsearch as es

from askem.breaker import Breaker, Outage, patiently
from askem.errors import BackendUnavailable, SchemaUnfit

T = TypeVar("T")
BACKEND = "elasticsearch"
_GATEWAY = (502, 503, 504)
_MISSING = "the index does not exist: run `askem schema create`"


class Elastic:
    """Thread-safe. Connects when first asked, never before."""

    def __init__(self, url: str, api_key: str | None, *, timeout_s: float, write_timeout_s: float):
        self._client = es.Elasticsearch(
            url, api_key=api_key, max_retries=0, retry_on_timeout=False, request_timeout=timeout_s
        )
        self._patient = self._client.options(request_timeout=write_timeout_s)
        self.breaker = Breaker(BACKEND)
        self._known = False

    def read(self, work: Callable[[es.Elasticsearch], T]) -> T:
        """Raises BackendUnavailable within the time-out, at once while the breaker is open."""
        return self.breaker.call(lambda: self._asked(work, self._client))

    def write(self, work: Callable[[es.Elasticsearch], T]) -> T:
        """As `once`, through an outage of up to half a minute. `work` must be safe to repeat."""
        return patiently(lambda: self.once(work))

    def once(self, work: Callable[[es.Elasticsearch], T]) -> T:
        """As `read`, with the time that writing takes."""
        return self.breaker.call(lambda: self._asked(work, self._patient))

    def close(self) -> None:
        self._client.close()

    def _asked(self, work: Callable[[es.Elasticsearch], T], client: es.Elasticsearch) -> T:
        """At first whether it is an Elasticsearch: another server's 404 would be taken for an
        index that is not there."""
        if not self._known:
            translated(_greet, client)
            self._known = True
        return translated(work, client)


def _greet(client: es.Elasticsearch) -> None:
    # The client looks at the product's header in the answer. A key that may not ask is told so
    # by what it wants to do.
    with suppress(es.AuthenticationException, es.AuthorizationException):
        client.indices.exists(index="askem")


def translated(work: Callable[[es.Elasticsearch], T], client: es.Elasticsearch) -> T:
    """What `work` returns; the client's errors become ours."""
    try:
        return work(client)
    except es.ConnectionTimeout as error:
        raise Outage(BACKEND, "no answer in time") from error
    except es.SerializationError as error:
        raise _stranger() from error
    except es.TransportError as error:
        raise Outage(BACKEND, "cannot be reached", repeat=True) from error
    except es.ApiError as error:
        raise _ours(error) from error
    except es.UnsupportedProductError as error:
        raise _stranger() from error


def blocked(status: int, kind: object, reason: object) -> str | None:
    """What to say where an index takes no writes, and waiting would not change that; None where it
    is something else. `kind` and `reason` are the engine's."""
    if status in (403, 429) and kind == "cluster_block_exception":
        return (
            f"the index is read-only (disk full?): {str(reason)[:300]}; make room, then set "
            "index.blocks.read_only_allow_delete to null"
        )
    return None


def _ours(error: es.ApiError) -> BackendUnavailable:
    status = error.status_code
    if status in _GATEWAY:
        return Outage(BACKEND, f"answered {status}")
    if block := blocked(status, error.error, _reason(error)):
        return BackendUnavailable(BACKEND, block)
    if status in (401, 403):
        message = f"refuses the API key ({status}): check ELASTICSEARCH_APIKEY"
        return BackendUnavailable(BACKEND, message)
    if error.meta.headers.get("x-elastic-product") != "Elasticsearch":
        return _stranger()
    if status == 404:
        return SchemaUnfit(BACKEND, _MISSING)
    return BackendUnavailable(BACKEND, f"answered {status}, {error.error}")


def _reason(error: es.ApiError) -> str:
    """In the engine's words; empty where its answer has another shape."""
    told = error.body.get("error") if isinstance(error.body, dict) else None
    return str(told.get("reason", "")) if isinstance(told, dict) else ""


def _stranger() -> BackendUnavailable:
    return BackendUnavailable(BACKEND, "what answers is not Elasticsearch: check ELASTICSEARCH_URL")


def whole(answer: dict[str, Any]) -> dict[str, Any]:
    """A search's answer, if all shards answered in time. Raises BackendUnavailable."""
    if "error" in answer:
        reason = answer["error"].get("type", "an error")
        if answer.get("status") == 404:
            raise SchemaUnfit(BACKEND, _MISSING)
        raise BackendUnavailable(BACKEND, f"a search failed: {reason}")
    if answer.get("timed_out") or answer.get("_shards", {}).get("failed"):
        raise BackendUnavailable(BACKEND, "not all shards answered in time")
    return answer
