"""Types of wire fields, and how a JSON body becomes a checked model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema, from_json

from askem.models import PAPER_ID_PATTERN, TOPIC_PATTERN

MAX_REPORTED = 20
"""Most field errors that one answer lists."""
_MAX_NAME = 100
_MAX_DIGITS = 100

_Model = TypeVar("_Model", bound=BaseModel)


class FieldErrors(Exception):
    """A request that does not fit its model; each entry is (field, what is wrong with it)."""

    def __init__(self, errors: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{field}: {message}" for field, message in errors))
        self.errors = errors


def refuse_unstorable(text: str) -> str:
    """`text`, unless it holds a character that UTF-8 or the stores cannot carry."""
    if "\x00" in text:
        raise ValueError("must not contain a NUL character")
    if not text.isascii() and _has_surrogate(text):
        raise ValueError(_SURROGATE)
    return text


_SURROGATE = "must not contain half a surrogate pair"


def _has_surrogate(text: str) -> bool:
    # Surrogates are all that UTF-8 cannot carry; the codec finds them at the speed of C.
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


class _Nullable:
    """Says in the JSON schema what `RequestModel` does: null is the same as absent."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(core)
        options = schema.get("anyOf", [schema])
        if {"type": "null"} in options:
            return schema
        return {"anyOf": [*options, {"type": "null"}]}


NULLABLE = _Nullable()

Clean = AfterValidator(refuse_unstorable)
# Patterns end in \Z in effect: `$` of the Rust engine does not match before a trailing newline.
PaperId = Annotated[str, Field(pattern=PAPER_ID_PATTERN), Clean]
TopicName = Annotated[str, Field(pattern=TOPIC_PATTERN), Clean]
Term = Annotated[str, Field(min_length=1, max_length=200), Clean]
Text = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000), Clean
]
PreprocessorId = Annotated[str, Field(min_length=1, max_length=128), Clean]
Weight = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class WholeNumber:
    """An integer from `low` to `high`. 5.0 is 5, as in JSON Schema; true and "5" are not.

    With `text`, decimal digits are taken too, and nothing else that int() would read: for query
    parameters, which are text.
    """

    def __init__(self, low: int, high: int, *, text: bool = False) -> None:
        self._low, self._high, self._text = low, high, text

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        number = core_schema.int_schema(ge=self._low, le=self._high, strict=True)
        return core_schema.no_info_before_validator_function(self._read, number)

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "integer", "minimum": self._low, "maximum": self._high}

    def _read(self, value: object) -> object:
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if self._text and isinstance(value, str):
            if not (value.isascii() and value.isdigit() and len(value) < _MAX_DIGITS):
                raise ValueError("must be a whole number within the range")
            return int(value)
        return value


class RequestModel(BaseModel):
    """A request: strict types, unknown fields refused, null the same as absent."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        if isinstance(data, dict):
            # A name that is no field's stays, to be refused as unknown.
            fields = cls.model_fields
            return {n: value for n, value in data.items() if value is not None or n not in fields}
        return data


def parse_json(model: type[_Model], body: bytes) -> _Model:
    """`body` as a checked `model`. Raises FieldErrors; the field `body` is the body as a whole.

    Safe for hostile bodies: nesting is cut off at a depth of 200, numbers and strings of any kind
    end in FieldErrors.
    """
    try:
        data = from_json(body)
    except ValueError as error:
        data = _parse_what_json_allows(body, str(error))
    if not isinstance(data, dict):
        raise FieldErrors([("body", "must be a JSON object")])
    return checked(model, data)


def checked(model: type[_Model], data: dict[str, Any]) -> _Model:
    """`data` as a checked `model`. Raises FieldErrors."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=True, include_input=False)
        raise FieldErrors(readable([{**e, "loc": _sent_place(e, data)} for e in errors])) from None


def _sent_place(error: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[str | int, ...]:
    """The error's place within what was sent: pydantic also puts in which choice of a union it
    tried, under names that are nothing of the caller's."""
    if not error["loc"]:
        return ()
    field, *rest = error["loc"]
    value: Any = data.get(field)
    place = [field]
    missing = rest.pop() if rest and error["type"] == "missing" else None
    for step in rest:
        # Of lists, errors stand at items that were sent.
        in_list = isinstance(step, int) and isinstance(value, list)
        if in_list or (isinstance(value, dict) and step in value):
            place.append(step)
            value = value[step]
    return tuple(place if missing is None else [*place, missing])


def _parse_what_json_allows(body: bytes, reason: str) -> Any:
    """Halves of surrogate pairs and endless numbers are legal JSON that pydantic's parser
    refuses without saying where: parse again, so that the field can be named."""
    if "hex escape" not in reason and "number out of range" not in reason:
        raise FieldErrors([("body", f"is not valid JSON: {reason}")]) from None
    try:
        data = json.loads(body, parse_int=_int_or_infinity)
    except (ValueError, RecursionError):
        raise FieldErrors([("body", f"is not valid JSON: {reason}")]) from None
    broken = list(_broken_strings(data, ()))
    if broken:
        raise FieldErrors(broken[:MAX_REPORTED])
    return data


def _int_or_infinity(digits: str) -> int | float:
    # No field takes numbers of this length; int() would refuse or be slow.
    return int(digits) if len(digits) < _MAX_DIGITS else float("inf")


def _broken_strings(value: Any, place: tuple[str | int, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(value, str) and _has_surrogate(value):
        yield field_name(place), _SURROGATE
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _broken_strings(item, (*place, index))
    elif isinstance(value, dict):
        for name, item in value.items():
            if _has_surrogate(name):
                yield field_name((*place, name)), "unknown field"
            yield from _broken_strings(item, (*place, name))


def field_name(place: tuple[str | int, ...]) -> str:
    """`("paper_ids", 3)` as `paper_ids[3]`; the empty place is `body`. Always printable ASCII or
    valid Unicode, at most some 100 characters."""
    name = ""
    for step in place:
        name += f"[{step}]" if isinstance(step, int) else f".{step}" if name else step
    name = name.encode("utf-8", "backslashreplace").decode()
    return (name[:_MAX_NAME] + "…" if len(name) > _MAX_NAME else name) or "body"


_MESSAGES = {
    "missing": "required",
    "extra_forbidden": "unknown field",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "value_error": "{error}",
    "too_long": "must have at most {max_length} items",
    "tuple_type": "must be a list of strings",
    "finite_number": "must be a finite number",
    "model_type": "must be a JSON object",
}


def readable(errors: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """pydantic's errors as (field, message), at most 20; values sent are never echoed."""
    return [(field_name(error["loc"]), _message(error)) for error in errors[:MAX_REPORTED]]


def _message(error: Mapping[str, Any]) -> str:
    template = _MESSAGES.get(error["type"])
    if template is None:
        return str(error["msg"]).replace("Input should", "must", 1)
    return template.format(**error.get("ctx", {}))
