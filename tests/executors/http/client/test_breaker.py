"""Circuit breakers: a host that only fails is not called for a while."""

import pytest

from tests.executors.http.conftest import a_claim
from tests.executors.http.receiver import answers
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.http import Http
from tickwell.domain.policy import Delivery
from tickwell.errors import StoreUnavailable
from tickwell.executors.http.client.host_limit import WINDOW, Breakers
from tickwell.executors.http.response.redaction import Redactor

A, B = ("acme", "a"), ("other", "a")


@pytest.fixture
def now():
    return [1000.0]


@pytest.fixture
def breakers(now):
    return Breakers(3, 10.0, lambda: now[0])


def fail(breakers, times, key=A):
    for _ in range(times):
        breakers.failed(key)


def test_so_many_in_a_row_open_it_for_one_project(breakers):
    fail(breakers, 2)
    assert breakers.wait(A) == 0
    fail(breakers, 1)
    assert breakers.wait(A) == 10
    assert breakers.wait(B) == 0


def test_a_success_in_between_keeps_it_closed(breakers):
    fail(breakers, 2)
    breakers.succeeded(A)
    fail(breakers, 2)
    assert breakers.wait(A) == 0


def test_failures_far_apart_keep_it_closed(breakers, now):
    for _ in range(5):
        fail(breakers, 1)
        now[0] += WINDOW + 1
    assert breakers.wait(A) == 0


def test_after_the_rest_one_goes_and_the_others_wait_for_it(breakers, now):
    fail(breakers, 3)
    now[0] += 10
    assert breakers.wait(A) == 0
    assert breakers.wait(A) == 10
    breakers.succeeded(A)
    assert breakers.wait(A) == 0


def test_a_probe_that_fails_doubles_the_rest_up_to_a_bound(breakers, now):
    fail(breakers, 3)
    rests = []
    for _ in range(7):
        now[0] += breakers.wait(A)
        assert breakers.wait(A) == 0
        breakers.failed(A)
        rests.append(breakers.wait(A))
    assert rests == [20, 40, 80, 160, 160, 160, 160]


def test_what_was_under_way_when_it_opened_does_not_lengthen_the_rest(breakers):
    fail(breakers, 30)
    assert breakers.wait(A) == 10


def test_a_probe_that_never_got_there_lets_the_next_one_go(breakers, now):
    fail(breakers, 3)
    now[0] += 10
    assert breakers.wait(A) == 0
    breakers.gave_up(A)
    assert breakers.wait(A) == 0


def test_none_is_none():
    breakers = Breakers(0, 10.0, lambda: 0.0)
    fail(breakers, 1000)
    assert breakers.wait(A) == 0


async def test_webhooks_to_a_broken_host_are_not_sent_and_not_charged(make_executor, receive):
    executor, receiver = make_executor(breaker_failures=3), await receive(answers(503))
    target = Http(receiver.url())
    kinds = [(await executor.run(a_claim(target))).kind for _ in range(5)]
    assert kinds == [OutcomeKind.FAILED] * 3 + [OutcomeKind.SNOOZED] * 2
    assert len(receiver.exchanges) == 3
    tired = await executor.run(a_claim(target, returned=10))
    assert (tired.kind, tired.retry, len(receiver.exchanges)) == (OutcomeKind.FAILED, True, 3)
    assert "circuit breaker open" in tired.error
    other = await executor.run(a_claim(target, policies={"project": "other"}))
    assert (other.kind, len(receiver.exchanges)) == (OutcomeKind.FAILED, 4)
    once = a_claim(target, policies={"delivery": Delivery.AT_MOST_ONCE})
    assert (await executor.run(once)).kind is OutcomeKind.FAILED
    assert len(receiver.exchanges) == 5


async def test_a_host_that_refuses_what_it_got_is_well(make_executor, receive):
    executor, receiver = make_executor(breaker_failures=3), await receive(answers(404))
    for _ in range(6):
        await executor.run(a_claim(Http(receiver.url())))
    assert len(receiver.exchanges) == 6


class Away:
    async def get(self, project, names):
        raise StoreUnavailable("the store does not answer")


async def test_secrets_that_cannot_be_read_now_send_nothing_and_cost_nothing(
    make_executor, receive
):
    executor, receiver = make_executor(secrets=Away(), breaker_failures=1), await receive()
    target = Http(receiver.url(), headers={"X": "{{secret.token}}"})
    for _ in range(3):
        outcome = await executor.run(a_claim(target))
        assert outcome.kind is OutcomeKind.SNOOZED
        assert outcome.error == "its secrets: the store does not answer"
    assert receiver.exchanges == []


@pytest.mark.parametrize(
    "text",
    [
        'it said "pa\\"ss/wörd" to us',
        "it said pa%22ss%2Fw%C3%B6rd to us",
        'it said pa"ss/wörd to us',
        'it said pa\\"ss/w\\u00f6rd to us',
        'it was cut at pa"ss/w',
    ],
)
def test_a_secret_is_hidden_in_every_form_that_it_was_sent_in(text):
    hidden = Redactor(['pa"ss/wörd'])(text)
    assert "***" in hidden
    assert "ss" not in hidden
