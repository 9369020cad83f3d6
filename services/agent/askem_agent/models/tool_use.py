"""Calls of tools, checked against the tools that were offered. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from askem_agent.models.steps import NotAStep, Tool

_MAX_QUOTED = 80


def offered(name: str, tools: Sequence[Tool]) -> Tool:
    """The function called `name`. Raises NotAStep."""
    functions = {tool["function"]["name"]: tool["function"] for tool in tools}
    if name in functions:
        function: Tool = functions[name]
        return function
    if not functions:
        raise NotAStep("no tool may be used now; answer with what is known")
    raise NotAStep(
        f"there is no tool called {name[:_MAX_QUOTED]!r}; there are: {', '.join(functions)}"
    )


def from_json(text: str, function: Tool) -> dict[str, Any]:
    """The arguments in `text`, a JSON object. Raises NotAStep."""
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotAStep(f"the arguments of {function['name']} are not JSON: {error}") from None
    return complete(arguments, function)


def from_text(text: str, function: Tool) -> dict[str, Any]:
    """The arguments in `text`: a JSON object, whatever follows it, or, for a tool with a single
    required text, that text itself, with quotes or without. Raises NotAStep."""
    if text.startswith("{"):
        try:
            arguments, _ = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError) as error:
            raise NotAStep(f"the Action Input is not JSON: {error}") from None
        return complete(arguments, function)
    name = _single_text(function)
    if name is None:
        raise NotAStep("the Action Input has to be a JSON object")
    unquoted = text.strip("\"'`“” ")
    if not unquoted:
        raise NotAStep(f"the Action Input is empty; write the {name}")
    return {name: unquoted}


def complete(arguments: Any, function: Tool) -> dict[str, Any]:
    """`arguments`, if they are an object with all that `function` requires. Raises NotAStep."""
    if not isinstance(arguments, dict):
        raise NotAStep(f"the arguments of {function['name']} have to be a JSON object")
    for name in _required(function):
        if name not in arguments:
            raise NotAStep(f"the arguments of {function['name']} lack {name!r}")
    try:
        json.dumps(arguments, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # Half a surrogate pair: JSON can write it, and nothing can send it on.
        what = f"the arguments of {function['name']} hold what is no character"
        raise NotAStep(what) from None
    return arguments


def _required(function: Tool) -> list[str]:
    return list(function.get("parameters", {}).get("required", []))


def _single_text(function: Tool) -> str | None:
    """The name of the only required argument, if it is a text."""
    required = _required(function)
    properties = function.get("parameters", {}).get("properties", {})
    if len(required) == 1 and properties.get(required[0], {}).get("type") == "string":
        return required[0]
    return None
