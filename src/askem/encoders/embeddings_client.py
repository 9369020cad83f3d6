"""One call of `/v1/embeddings` through the openai client: retried by named errors, translated.

The openai package is needed (the extra `remote`). Retries happen here and nowhere else.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2
import numpy as np
import openai
from numpy.typing import NDArray

from askem.breaker import Outage
from askem.encoders.capped_transport import MAX_ANSWER_BYTES, AnswerTooLarge, CappedTransport
from askem.encoders.embeddings_answer import BadAnswer, read_vectors
from askem.errors import AskemError, BackendUnavailable, ConfigurationError

BACKEND = "encoder"
InputType = Literal["query", "document"]

_CONNECT_TIMEOUT_S = 2.0
_RETRIED = frozenset({429, 500, 502, 503, 504})
_MAX_RETRY_AFTER_S = 300.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the server is and how it wants to be asked."""

    url: str
    """The base that `/embeddings` is added to; it usually ends in /v1."""
    model: str
    key: str = field(default="", repr=False)
    timeout_s: float = 10.0
    """Longest time of one attempt's answer, once connected."""
    encoding: Literal["base64", "float"] = "base64"
    input_type: bool = False
    """Say in each request whether its texts are questions or passages."""
    max_answer_bytes: int = MAX_ANSWER_BYTES


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to go on trying."""

    attempts: int
    longest_wait_s: float
    """A server that asks for a longer pause than this is not asked again."""


class EmbeddingsClient:
    """Thread-safe. No redirects, no proxy and no credentials from the environment."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        connections: int,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """`sleep`: for tests; None: pauses that `close` ends."""
        self._endpoint = endpoint
        self._closing = threading.Event()
        self._sleep = sleep or self._closing.wait
        limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
        transport = CappedTransport(
            httpx2.HTTPTransport(limits=limits),
            max_bytes=endpoint.max_answer_bytes,
            max_s=endpoint.timeout_s,
        )
        http = httpx2.Client(
            transport=transport,
            trust_env=False,
            follow_redirects=False,
            timeout=httpx2.Timeout(endpoint.timeout_s, connect=_CONNECT_TIMEOUT_S),
        )
        self._openai = openai.OpenAI(
            # The client insists on a key; servers without keys ignore it.
            api_key=endpoint.key or "none",
            base_url=endpoint.url,
            max_retries=0,
            timeout=http.timeout,
            http_client=http,
            default_headers={"Accept-Encoding": "identity"},
        )
        # Taken from the environment where they are not given: they are for another server.
        self._openai.organization = self._openai.project = None

    def embed(
        self,
        texts: Sequence[str],
        input_type: InputType,
        patience: Patience,
        *,
        timeout_s: float | None = None,
    ) -> NDArray[np.float32]:
        """Vectors as the server gives them, shape (texts, dimension), finite and none zero.

        `timeout_s`: of each attempt, where the endpoint's is too long. Raises BackendUnavailable
        once the patience is used up or for an answer that cannot be used, its kind Outage where
        there was no answer; ConfigurationError where trying again cannot help.
        """
        for attempt in range(1, patience.attempts + 1):
            try:
                return read_vectors(self._ask(list(texts), input_type, timeout_s), len(texts))
            except (BadAnswer, AnswerTooLarge) as error:
                raise _unavailable(f"the answer cannot be used: {error}") from error
            except openai.APIError as error:
                pause = _pause(error, attempt)
                if pause is None:
                    raise self._translated(error) from error
                last = attempt == patience.attempts or self._closing.is_set()
                if last or pause > patience.longest_wait_s:
                    raise self._translated(error, retry_after_s=pause) from error
                self._sleep(pause)
        raise AssertionError("patience has at least one attempt")

    def stop_trying(self) -> None:
        """Ends pauses: calls that run fail with their next failure."""
        self._closing.set()

    def close(self) -> None:
        self.stop_trying()
        self._openai.close()

    def _ask(self, texts: list[str], input_type: InputType, timeout_s: float | None) -> bytes:
        seconds = self._endpoint.timeout_s if timeout_s is None else timeout_s
        extra: dict[str, Any] = {"input_type": input_type} if self._endpoint.input_type else {}
        # Raw, since the client would convert each number on its way into a list.
        answer = self._openai.embeddings.with_raw_response.create(
            model=self._endpoint.model,
            input=texts,
            encoding_format=self._endpoint.encoding,
            extra_body=extra,
            timeout=httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_TIMEOUT_S)),
        )
        return answer.http_response.content

    def _translated(self, error: openai.APIError, retry_after_s: float = 1.0) -> AskemError:
        """Our error for `error`; nothing that came from the server is in its message."""
        if not isinstance(error, openai.APIStatusError):
            timed_out = isinstance(error, openai.APITimeoutError)
            what = "did not answer in time" if timed_out else "cannot be reached"
            return Outage(BACKEND, f"the embeddings server {what}")
        status = error.status_code
        if status in _RETRIED:
            return _unavailable(f"the embeddings server answered {status}", retry_after_s)
        return ConfigurationError(
            f"the embeddings server answered {status}: "
            + _WHAT_TO_DO.get(status, "see that server's log, and check ASKEM_EMBEDDINGS_URL")
        )


_WHAT_TO_DO = {
    400: "it does not take our request; lower ASKEM_EMBEDDINGS_WINDOW_TOKENS, or try "
    "ASKEM_EMBEDDINGS_ENCODING=float and ASKEM_EMBEDDINGS_INPUT_TYPE=false",
    401: "set ASKEM_EMBEDDINGS_KEY to a key that it knows",
    403: "set ASKEM_EMBEDDINGS_KEY to a key that may use this model",
    404: "check ASKEM_EMBEDDINGS_URL, which usually ends in /v1, and ASKEM_EMBEDDINGS_MODEL",
    413: "a request of 64 texts is too large for it; lower ASKEM_EMBEDDINGS_WINDOW_TOKENS",
    **dict.fromkeys(
        (301, 302, 303, 307, 308),
        "it sends us elsewhere, and the key goes to no other address; set ASKEM_EMBEDDINGS_URL to "
        "the final one",
    ),
}
_WHAT_TO_DO[422] = _WHAT_TO_DO[400]


def _unavailable(message: str, retry_after_s: float = 1.0) -> BackendUnavailable:
    seconds = min(max(retry_after_s, 1.0), _MAX_RETRY_AFTER_S)
    return BackendUnavailable(BACKEND, message, retry_after_s=seconds)


def _pause(error: openai.APIError, attempt: int) -> float | None:
    """Seconds before the next attempt; None where another one cannot help.

    A server that was reached and gave no answer in time is not asked again: it may still be at
    work on the first request, and a second one would only add to that.
    """
    if isinstance(error, openai.APIStatusError):
        if error.status_code not in _RETRIED:
            return None
        asked = _seconds(error.response.headers.get("retry-after"))
        if asked is not None:
            return asked
    elif not isinstance(error, openai.APIConnectionError) or _was_reached(error):
        return None
    # Spread out, so that clients that failed together do not come back together.
    spread = 0.5 + random.random()  # noqa: S311 - not a secret
    return float(0.25 * 2 ** (attempt - 1) * spread)


def _was_reached(error: openai.APIConnectionError) -> bool:
    timed_out = isinstance(error, openai.APITimeoutError)
    return timed_out and not isinstance(error.__cause__, httpx2.ConnectTimeout)


def _seconds(header: str | None) -> float | None:
    """Retry-After in seconds; a date is taken as not given."""
    if header is None or not header.isascii() or not header.isdigit():
        return None
    return min(float(header), _MAX_RETRY_AFTER_S)
