"""What the person at the terminal is told to do."""

from __future__ import annotations

import httpx
import pytest

from askem.http.calling import what_to_do
from askem.http.client import AskemClient, ClientError
from askem.http.exchange import transport_error

URL = "http://askem.test"


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_server_that_answers_is_not_said_to_be_absent(status: int) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(status))
    with (
        AskemClient(URL, "key-0123456789abcdef", transport=transport) as client,
        pytest.raises(ClientError) as caught,
    ):
        client.papers()
    said = what_to_do(caught.value, URL)
    assert str(status) in said
    assert "try again later" in said
    assert "running there" not in said


def test_a_server_that_does_not_answer_may_be_absent() -> None:
    error = transport_error(httpx.ConnectError("refused"))
    assert "is `askem serve` running there?" in what_to_do(error, URL)
