"""Settings to the objects behind the routes: models, clients of retrievers, probes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from pydantic import SecretStr, ValidationError

from askem.errors import BackendUnavailable, ConfigurationError
from askem.http.client import AskemClient, AsyncAskemClient, NotFoundError, Unavailable
from askem.http.health import Probe
from askem_agent.budget import Limits, Rates
from askem_agent.extractive_chat import ExtractiveChat
from askem_agent.models import ModelConfig, ModelConnection
from askem_agent.run import Agent, ChatModel, Policy
from askem_agent.settings import EXTRACTIVE, HYBRID, AgentSettings
from askem_agent.state import Components
from askem_agent.workers import Workers

_PROBE_S = 4.0


@asynccontextmanager
async def open_components(settings: AgentSettings) -> AsyncIterator[Components]:
    """Opens clients, closes them in reverse; asks nobody anything. Raises ConfigurationError."""
    key = _key(settings)
    async with AsyncExitStack() as stack:
        retrievers = {}
        for endpoint in settings.endpoints:
            client = AsyncAskemClient(
                endpoint.removesuffix(HYBRID), key, timeout_s=settings.retriever_timeout_s
            )
            retrievers[endpoint] = await stack.enter_async_context(client)
        workers = Workers()
        stack.callback(workers.close)
        agent = Agent(
            models=await _models(settings, workers, stack),
            default_model=settings.model,
            retrievers=retrievers,
            policy=policy(settings),
            workers=workers,
        )
        yield Components(agent, [retriever_probe(settings.retriever_url, key)])


def policy(settings: AgentSettings) -> Policy:
    return Policy(
        limits=Limits(
            model_calls=settings.agent_max_model_calls,
            searches=settings.agent_max_searches,
            tokens=settings.agent_max_tokens,
            cost=settings.agent_max_cost,
            seconds=settings.agent_max_seconds,
        ),
        thresholds=settings.thresholds,
        unsupported=settings.unsupported,
        topic_aliases=settings.topic_aliases,
    )


def _key(settings: AgentSettings) -> str:
    key = settings.retriever_key or settings.api_key
    if key is None:
        raise ConfigurationError("the agent needs the retriever's key: set ASKEM_RETRIEVER_KEY")
    return key.get_secret_value()


async def _models(
    settings: AgentSettings, workers: Workers, stack: AsyncExitStack
) -> dict[str, ChatModel]:
    models = {EXTRACTIVE: ChatModel(ExtractiveChat(workers), rates=None)}
    configs = model_configs(settings)
    if not configs:
        return models
    # Brings OpenAI's client with it.
    from askem_agent.models import open_model

    connection = _connection(settings, configs[0].name)
    for config in configs:
        chat = open_model(config, connection)
        stack.push_async_callback(chat.aclose)
        rates = Rates(
            config.input_price,
            config.output_price,
            config.max_output_tokens,
            tries=1 + connection.reasks,
        )
        models[config.name] = ChatModel(chat, rates)
    return models


def model_configs(settings: AgentSettings) -> list[ModelConfig]:
    """The configured models; ASKEM_MODEL alone is one with the defaults. Raises
    ConfigurationError."""
    try:
        configs = [ModelConfig.model_validate(model) for model in settings.models]
    except ValidationError as error:
        found = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ConfigurationError(f"ASKEM_MODELS: {found}") from None
    names = [config.name for config in configs]
    if EXTRACTIVE in names or len(set(names)) < len(names):
        raise ConfigurationError("ASKEM_MODELS: names must differ, from `extractive` too")
    if settings.model not in (EXTRACTIVE, *names):
        configs.append(ModelConfig(name=settings.model))
    return configs


def _connection(settings: AgentSettings, name: str) -> ModelConnection:
    if settings.openai_api_key is None:
        raise ConfigurationError(
            f"the model {name} is configured without a key: set OPENAI_API_KEY (any text for a "
            f"server without keys), or ASKEM_MODEL={EXTRACTIVE} and no ASKEM_MODELS"
        )
    try:
        return _connected(settings, settings.openai_api_key)
    except ValidationError as error:
        # Of the settings that it is made of, only the key is not checked before.
        what = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ConfigurationError(f"OPENAI_API_KEY: {what}") from None


def _connected(settings: AgentSettings, key: SecretStr) -> ModelConnection:
    return ModelConnection(
        base_url=settings.openai_base_url,
        api_key=key,
        idle_timeout_s=settings.model_idle_timeout_s,
        # The run's own clock ends a call earlier, and knows what to do then.
        total_timeout_s=settings.agent_max_seconds,
        longest_wait_s=min(10.0, settings.agent_max_seconds / 4),
        reasks=1,
    )


def retriever_probe(base_url: str, key: str) -> Probe:
    """Readiness: the retriever answers, and takes the key."""

    def answers() -> str:
        # Not /readyz: behind the same door it would ask for this probe in turn.
        with AskemClient(base_url, key, timeout_s=_PROBE_S) as client:
            try:
                client.papers(limit=1)
            except NotFoundError:
                # A foreign retriever may have nothing but /hybrid.
                return "answers"
            except Unavailable as error:
                raise BackendUnavailable("retriever", str(error)) from error
        return "answers"

    return Probe("agent's retriever", answers)
