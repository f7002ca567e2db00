"""Conditions that are asked by a request: what counts as yes, as no, and as a failure."""

import pytest

from tests.executors.http.conftest import a_claim
from tests.executors.http.receiver import answers, sends
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.target import Call
from tickwell.executors.call import CallExecutor
from tickwell.executors.condition import AskedConditions
from tickwell.executors.handlers import Handlers
from tickwell.executors.http.network.guard import Guard
from tickwell.stores.memory import MemoryStore


@pytest.fixture
def ask(make_executor, receive):
    async def ask(behaviour, *, guard=None):
        receiver = await receive(behaviour)
        conditions = AskedConditions(
            MemoryStore(), CallExecutor(Handlers()), lambda: make_executor(guard=guard)
        )
        claim = a_claim(Call("work"), policies={"only_if": receiver.url("/has-mail?of=7")})
        outcome = await conditions.ask(claim)
        assert await conditions.refusal(claim.job) == (outcome.error if guard and outcome else "")
        await conditions.close()
        return outcome, receiver

    return ask


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, b""), (200, b"no"), (202, b'{"run": true}'), (200, b'{"run": 0}'), (200, b"[false]")],
)
async def test_any_success_is_a_yes(ask, status, body):
    outcome, receiver = await ask(answers(status, body))
    assert outcome is None
    assert receiver.last.line == "GET /has-mail?of=7 HTTP/1.1"


@pytest.mark.parametrize(("status", "body"), [(204, b""), (200, b'{"run": false, "left": 0}')])
async def test_no_content_and_run_false_are_a_no(ask, status, body):
    outcome, _ = await ask(answers(status, body))
    assert outcome.kind is OutcomeKind.SKIPPED


@pytest.mark.parametrize(
    ("status", "retry"), [(500, True), (503, True), (429, True), (404, False), (302, False)]
)
async def test_any_other_status_is_a_failed_attempt(ask, status, retry):
    outcome, _ = await ask(answers(status))
    assert (outcome.kind, outcome.retry) == (OutcomeKind.FAILED, retry)
    assert outcome.error.startswith(f"its only_if condition: HTTP {status}")


async def test_one_that_is_gone_does_not_pause_the_job(ask):
    outcome, _ = await ask(answers(410))
    assert (outcome.kind, outcome.pause) == (OutcomeKind.FAILED, None)


async def test_an_answer_that_is_cut_off_is_a_failed_attempt(ask):
    outcome, _ = await ask(sends(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nno"))
    assert (outcome.kind, outcome.retry) == (OutcomeKind.FAILED, True)


async def test_where_the_guard_lets_no_webhook_go_it_is_left_to_other_workers(ask):
    outcome, receiver = await ask(answers(), guard=Guard())
    assert (outcome.kind, outcome.not_here) == (OutcomeKind.RELEASED, True)
    assert receiver.connections == 0
