"""The headers of a response are kept with its attempt: capped, and without credentials."""

import pytest

from tests.executors.http.conftest import a_claim
from tests.executors.http.receiver import answers
from tests.executors.http.request.test_auth import Vault
from tickwell.domain.http import Http
from tickwell.executors.http.response.headers import MOST_CHARACTERS, MOST_HEADERS, stored_headers


@pytest.mark.parametrize("status", [200, 503])
async def test_they_are_part_of_the_result(send, status):
    outcome, _ = await send(answers(status, headers=("X-Request-Id: 17", "Retry-After: 3")))
    headers = {name.lower(): value for name, value in outcome.result["headers"].items()}
    assert (headers["x-request-id"], headers["retry-after"]) == ("17", "3")


def test_credentials_are_hidden_by_their_names():
    names = ("Set-Cookie", "WWW-Authenticate", "X-Auth-Token", "X-API-Key", "Authorization")
    kept = stored_headers({**dict.fromkeys(names, "let me in"), "Content-Type": "text/plain"})
    assert kept.pop("Content-Type") == "text/plain"
    assert kept == dict.fromkeys(names, "***")


def test_there_is_a_limit_to_them():
    many = {f"X-{number}": "x" for number in range(1000)}
    assert len(stored_headers(many)) == MOST_HEADERS
    long = {f"X-{number}": "x" * 1000 for number in range(10)}
    kept = stored_headers(long)
    assert sum(len(name) + len(value) for name, value in kept.items()) <= MOST_CHARACTERS
    assert stored_headers({"X": "x" * 10_000}) == {}


async def test_a_secret_that_comes_back_is_hidden(make_executor, receive):
    receiver = await receive(answers(headers=("X-Echo: you sent s3cr3t-value",)))
    executor = make_executor(secrets=Vault(token="s3cr3t-value"))
    target = Http(receiver.url(), headers={"X-Mine": "{{secret.token}}"})
    outcome = await executor.run(a_claim(target))
    assert outcome.result["headers"]["X-Echo"] == "you sent ***"
