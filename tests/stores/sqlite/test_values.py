"""Values that are hard to store."""

import pytest

from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.job import Entry
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.planning import first_cursor
from tickwell.ports.records import ClaimRequest
from tickwell.testing.contract.builders import T0, a_job, a_request, a_worker


def request(limit):
    return ClaimRequest(
        worker="w1",
        claim_id="c1",
        now=T0,
        lead=0,
        limit=limit,
        queues=("default",),
        abilities=frozenset({"call:work"}),
    )


@pytest.fixture
async def job(store):
    """One with a worker that can run it."""
    job = a_job()
    await store.add_jobs([Entry(job, first_cursor(job, T0))], T0)
    await store.beat(a_worker("w1"), T0)
    return job


@pytest.fixture
async def claims(store, job):
    """Three running executions."""
    await store.add_executions([a_request(job, T0) for _ in range(3)], T0, 0)
    return await store.claim(request(3))


def report(claim, result=None, error=None):
    outcome = Outcome(kind=OutcomeKind.SUCCEEDED, started_at=T0, result=result, error=error)
    return decide(claim, outcome, T0 + 1)


@pytest.mark.parametrize("result", [object(), {"at": {1, 2}}, b"bytes"])
async def test_a_result_that_is_no_json_does_not_hold_up_the_others(store, claims, result):
    reports = [report(claims[0], "a"), report(claims[1], result), report(claims[2], "c")]
    assert (await store.finish(reports, T0 + 1)).refused == []
    ended = [await store.get_execution("default", claim.id) for claim in claims]
    assert [one.state for one in ended] == [State.SUCCEEDED] * 3
    assert [one.result for one in ended] == ["a", None, "c"]
    assert "cannot be stored" in ended[1].error
    # The same reports again, as after a lost reply.
    assert (await store.finish(reports, T0 + 2)).refused == []


@pytest.mark.parametrize("text", ["\ud800 half a pair", "a\0b", "é\U0001f600"])
async def test_text_of_any_kind_is_kept_as_far_as_it_is_text(store, claims, text):
    await store.finish([report(claims[0], {"text": text}, error=text)], T0 + 1)
    ended = await store.get_execution("default", claims[0].id)
    kept = text.encode("utf-8", "replace").decode()
    assert ended.error == kept.replace("\0", "\N{REPLACEMENT CHARACTER}")
    assert ended.result == {"text": text}


async def test_payloads_are_claimed_as_they_were_given_whatever_their_numbers(store, job):
    given = [2**70, -(2**64), 1e-7, {"n": [2**63, None, "\ud800"]}, False]
    runs = [a_request(job, T0, payload=payload) for payload in given]
    await store.add_executions(runs, T0, 0)
    claimed = {claim.id: claim.payload for claim in await store.claim(request(len(runs)))}
    assert [claimed[run.id] for run in runs] == given
