"""What it costs to hide secrets: bounded, and where it is much, not at the cost of others."""

import threading

import pytest

from tests.executors.http.conftest import a_claim
from tests.executors.http.receiver import answers
from tests.executors.http.request.test_auth import Vault
from tickwell.domain.http import Http
from tickwell.executors.http.response import redaction
from tickwell.executors.http.response.redaction import Redactor

#: With signs of every kind it has dozens of forms.
SIGNS = "/&<\"é'"


@pytest.mark.parametrize("length", [301, 2_499, 10_000, 29_000])
def test_long_secrets_are_found_in_texts_of_any_length(length):
    secrets = ["a" * size + SIGNS for size in (250, 2_000)]
    text = "a" * length + "c"
    assert Redactor(secrets)(text) == text
    assert Redactor(secrets)(f"{text} {secrets[0]} {text}") == f"{text} *** {text}"
    assert Redactor(secrets)(text + secrets[1][:1_999]) == text + "***"


def test_where_there_is_too_much_to_look_for_nothing_is_kept():
    assert Redactor(f"{number:05}{'a' * 8_000}{SIGNS}" for number in range(20))("short") == "***"
    many = Redactor(f"{number:05}{SIGNS}" for number in range(50))
    assert many("short") == "short"
    assert many("a" * 65_536) == "***"
    assert many.each(["short", "value"]) == ["short", "value"]
    assert many.each(["short"] * 1000) == ["***"] * 1000
    assert many("") == ""


def test_a_usual_secret_is_looked_for_once():
    assert Redactor(["sk_live_4eC39HqLyjWDarjtT1zdp7dc"]).looks(10_000) == 10_000


@pytest.mark.parametrize("length", [10, 60_000])
async def test_a_long_search_is_not_made_in_the_loop(make_executor, receive, monkeypatch, length):
    where, search = [], Redactor.__call__

    def note(self, text):
        where.append(threading.get_ident())
        return search(self, text)

    monkeypatch.setattr(redaction.Redactor, "__call__", note)
    executor = make_executor(secrets=Vault(key=f"canary{SIGNS}"))
    receiver = await receive(answers(500, f"canary{SIGNS}".encode() + b"a" * length))
    target = Http(receiver.url(), body="{{secret.key}}", keep=65_536)
    outcome = await executor.run(a_claim(target))
    assert outcome.result["body"] == "***" + "a" * length
    assert {each == threading.get_ident() for each in where} == {length == 10}
