"""Rates through the public face, in virtual time."""

from datetime import timedelta

import pytest

from tickwell import OnDemand, Reason, Run
from tickwell.errors import InvalidJob


async def test_runs_start_as_the_rate_allows_and_no_later(tickwell):
    starts = []

    @tickwell.job(OnDemand(), rate="2/10s")
    async def send() -> None:
        starts.append(tickwell.now)

    for _ in range(7):
        await send.trigger()
    await tickwell.travel("1s")
    found = await tickwell.scheduler.executions(job="send")
    waiting = [one for one in found if one.state != "succeeded"]
    assert len(starts) == 2
    assert {one.reason for one in waiting} == {Reason.RATE}
    assert "rate limit" in waiting[0].explanation
    await tickwell.travel("28s")
    first = starts[0]
    assert [(at - first) // timedelta(seconds=10) for at in starts] == [0, 0, 1, 1, 2, 2]
    await tickwell.travel("5s")
    assert len(starts) == 7
    assert all(
        later - earlier >= timedelta(seconds=10)
        for earlier, later in zip(starts, starts[2:], strict=False)
    )


async def test_each_customer_has_the_rate_and_jobs_share_it(tickwell):
    starts = []

    def note(run: Run, customer: int) -> None:
        starts.append((run.job, customer))

    for name in ("mail", "text"):
        tickwell.job(
            OnDemand(),
            name=name,
            rate="1/1h",
            rate_key="{payload.customer}",
            payload={"customer": 0},
        )(note)
    for name in ("mail", "text"):
        for customer in (1, 2):
            await tickwell.scheduler.trigger(name, {"customer": customer})
    await tickwell.travel("1m")
    assert sorted(starts) == [("mail", 1), ("mail", 2)]
    await tickwell.travel("1h")
    assert sorted(starts[2:]) == [("text", 1), ("text", 2)]


async def test_every_attempt_waits_for_the_rate(tickwell):
    @tickwell.job(OnDemand(), rate="1/1h", retry=3)
    async def fails() -> None:
        raise ConnectionError

    await fails.trigger()
    await tickwell.travel("30m")
    [one] = await tickwell.scheduler.executions(job="fails")
    assert (one.attempt, one.reason) == (1, Reason.RATE)
    await tickwell.travel("2h")
    [one] = await tickwell.runs("fails")
    assert (one.attempt, one.state) == (3, "dead")


async def test_a_rate_that_cannot_be_is_refused_where_it_is_declared(tickwell):
    with pytest.raises(InvalidJob, match="is not N/PERIOD"):

        @tickwell.job(OnDemand(), rate="often")
        async def never() -> None: ...
