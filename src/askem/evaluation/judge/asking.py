"""One question to the judge: a prompt, JSON of a given shape back, or a typed error.

Needs the openai package, which the extra `remote` and the agent bring.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import TypeVar

import httpx2
import openai
from openai.types.shared_params import ResponseFormatJSONSchema
from pydantic import BaseModel, ConfigDict, ValidationError

from askem.closing import Closing
from askem.encoders.capped_transport import AnswerTooLarge, CappedTransport
from askem.errors import AskemError, BackendUnavailable, ConfigurationError

DEFAULT_URL = "https://api.openai.com/v1"
_MAX_ANSWER_BYTES = 1024 * 1024
_Shape = TypeVar("_Shape", bound="Judgement")


class JudgeUnavailable(BackendUnavailable):
    """The judge's server does not answer now."""


class JudgeRejected(ConfigurationError):
    """The judge's server does not take the request: key, name of the model, its abilities."""


class JudgeMalformed(AskemError):
    """What the judge said is not of the shape that was asked for, twice."""


class Judgement(BaseModel):
    """Base of what a judge may say: nothing but the fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    model: str
    url: str = DEFAULT_URL
    """The base that `/chat/completions` is added to; it usually ends in /v1."""
    key: str = field(default="", repr=False)
    timeout_s: float = 120.0
    retries: int = 2
    """Further attempts of the client where the server is busy or cannot be reached."""


def settings_from(environment: Mapping[str, str], model: str) -> JudgeSettings:
    """Raises ConfigurationError where no key is set."""
    key = environment.get("OPENAI_API_KEY", "")
    if not key:
        raise ConfigurationError(
            "OPENAI_API_KEY: a judge needs it (any text for servers without keys)"
        )
    return JudgeSettings(model, environment.get("OPENAI_BASE_URL") or DEFAULT_URL, key)


class Judge(Closing):
    """Thread-safe. No redirects, no proxy and no credentials from the environment."""

    def __init__(self, settings: JudgeSettings) -> None:
        self.model = settings.model
        transport = CappedTransport(
            httpx2.HTTPTransport(), max_bytes=_MAX_ANSWER_BYTES, max_s=settings.timeout_s
        )
        self._http = httpx2.Client(
            transport=transport,
            trust_env=False,
            follow_redirects=False,
            timeout=httpx2.Timeout(settings.timeout_s, connect=5.0),
        )
        self._openai = openai.OpenAI(
            api_key=settings.key or "none",
            base_url=settings.url,
            max_retries=settings.retries,
            timeout=self._http.timeout,
            http_client=self._http,
            default_headers={"Accept-Encoding": "identity"},
        )
        # Taken from the environment where they are not given: they are for another server.
        self._openai.organization = self._openai.project = None

    def close(self) -> None:
        self._http.close()

    def ask(self, prompt: str, shape: type[_Shape], **texts: str) -> _Shape:
        """`prompt`: a packaged file's name; `texts` fill its places.

        Raises JudgeUnavailable, JudgeRejected, JudgeMalformed. An answer of another shape is
        asked for once more.
        """
        said = ""
        for _ in range(2):
            said = self._complete(prompt_text(prompt, texts), shape)
            try:
                return shape.model_validate_json(said)
            except ValidationError:
                continue
        raise JudgeMalformed(
            f"the judge {self.model} did not answer {prompt} as asked, but: {said[:200]!r}"
        )

    def _complete(self, content: str, shape: type[Judgement]) -> str:
        try:
            completion = self._openai.chat.completions.create(
                model=self.model,
                messages=[{"role": "user", "content": content}],
                response_format=_format(shape),
            )
            return completion.choices[0].message.content or ""
        except (openai.OpenAIError, AnswerTooLarge) as error:
            raise _translated(error, self.model) from error
        except (LookupError, AttributeError, TypeError, ValueError) as error:
            raise JudgeMalformed(
                f"the judge's server does not speak the protocol: {error}"
            ) from error


def prompt_text(name: str, texts: Mapping[str, str]) -> str:
    """The packaged prompt, its `{places}` filled; braces in `texts` stay what they are."""
    template = resources.files("askem.evaluation.judge") / "prompts" / f"{name}.txt"
    return template.read_text(encoding="utf-8").format(**texts)


def _format(shape: type[Judgement]) -> ResponseFormatJSONSchema:
    schema: dict[str, object] = shape.model_json_schema()
    return {
        "type": "json_schema",
        "json_schema": {"name": shape.__name__, "schema": schema, "strict": True},
    }


def _translated(error: Exception, model: str) -> AskemError:
    if isinstance(error, openai.APIStatusError) and error.status_code not in (408, 429):
        if error.status_code < 500:
            return JudgeRejected(
                f"the judge's server answered {error.status_code} for {model}: check "
                "OPENAI_BASE_URL, OPENAI_API_KEY and the model's name, and that it can give JSON "
                "by a schema"
            )
        return JudgeUnavailable("judge", f"its server answered {error.status_code}")
    if isinstance(error, openai.APIError):
        return JudgeUnavailable("judge", f"no answer ({type(error).__name__})")
    return JudgeMalformed(f"the judge's answer cannot be used: {error}")
