"""Errors name fields as the caller wrote them."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field, model_validator

from askem.http.fields import Clean, FieldErrors, RequestModel, parse_json


class Inner(RequestModel):
    name: str
    size: int | None = None


Word = Annotated[str, Field(min_length=1), Clean]


class Outer(RequestModel):
    one: Word | list[Word] = "x"
    two: int | list[Inner] = 0

    @model_validator(mode="after")
    def _not_both(self) -> Outer:
        if self.one != "x" and self.two:
            raise ValueError("one of them")
        return self


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ('{"one": ""}', {"one"}),
        ('{"one": 5}', {"one"}),
        ('{"one": ["x", 5]}', {"one", "one[1]"}),
        ('{"two": [{"name": 5}]}', {"two", "two[0].name"}),
        ('{"two": [{}]}', {"two", "two[0].name"}),
        ('{"two": [{"name": "x", "int": 5}]}', {"two", "two[0].int"}),
        ('{"int": 5}', {"int"}),
        ('{"one": "y", "two": 1}', {"body"}),
    ],
)
def test_a_union_adds_nothing_to_a_fields_name(body: str, fields: set[str]) -> None:
    with pytest.raises(FieldErrors) as raised:
        parse_json(Outer, body.encode())
    found: list[Any] = [field for field, _ in raised.value.errors]
    assert set(found) == fields
