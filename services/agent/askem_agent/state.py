"""What the routes work with, for the life of the app."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from fastapi import Request

from askem.http.health import Probe
from askem_agent.places import Places
from askem_agent.settings import AgentSettings

if TYPE_CHECKING:
    from askem_agent.run import Agent

NAME = "agent"


@dataclass(frozen=True, slots=True)
class Components:
    """The objects behind the routes."""

    agent: Agent
    probes: Sequence[Probe] = ()


@dataclass(frozen=True, slots=True)
class State:
    """Lives in `app.state.agent`."""

    settings: AgentSettings
    agent: Agent
    runs: Places


def state_of(request: Request) -> State:
    return cast(State, getattr(request.app.state, NAME))
