"""Requests for the same run through the public face, in virtual time."""

import asyncio

import pytest

from tickwell import OnDemand, State
from tickwell.errors import InvalidInput, InvalidJob


async def test_a_request_finds_the_run_that_is_pending(tickwell):
    done = []

    @tickwell.job(OnDemand(), unless="pending")
    async def sync(customer: int = 0) -> None:
        done.append(customer)

    first = await sync.trigger(7)
    again = await sync.trigger(7)
    other = await sync.trigger(8)
    assert (first.is_new, again.is_new, other.is_new) == (True, False, True)
    assert again.id == first.id
    await tickwell.travel("1s")
    assert sorted(done) == [7, 8]
    assert (await sync.trigger(7)).is_new


async def test_of_a_day_one_run_is_made_however_it_ends(tickwell):
    @tickwell.job(OnDemand(), unless="24h", unique_key="{payload.customer}", retry=1)
    async def bill(customer: int = 0, amount: int = 0) -> None:
        raise ValueError(amount)

    first = await bill.trigger(7, 100)
    await tickwell.travel("12h")
    again = await bill.trigger(7, 200)
    assert (again.id, again.is_new, again.state) == (first.id, False, State.DEAD)
    await tickwell.travel("12h")
    assert (await bill.trigger(7, 300)).is_new


async def test_the_newest_of_a_burst_runs_when_no_more_come(tickwell):
    seen = []

    @tickwell.job(OnDemand(), debounce="30s", debounce_max="1m", unique_key="{payload.doc}")
    async def index(doc: int = 0, text: str = "") -> None:
        seen.append((tickwell.now, text))

    first = await index.trigger(1, "a")
    start = tickwell.now
    await tickwell.travel("20s")
    again = await index.trigger(1, "b")
    assert (again.id, again.is_new) == (first.id, False)
    await tickwell.travel("29s")
    assert seen == []
    await tickwell.travel("1s")
    [(at, text)] = seen
    assert ((at - start).total_seconds(), text) == (50, "b")
    for letter in "cdefgh":
        await index.trigger(1, letter)
        await tickwell.travel("12s")
    assert [text for _, text in seen] == ["b", "g"]
    assert (seen[1][0] - seen[0][0]).total_seconds() == 60


async def test_a_call_goes_before_its_job(tickwell):
    done = []

    @tickwell.job(OnDemand())
    async def sync(customer: int = 0) -> None:
        done.append(customer)

    once = sync.options(unless="running")
    first = await once.trigger(7)
    assert (await once.trigger(7)).id == first.id
    assert (await sync.trigger(7)).is_new
    later = sync.options(debounce="10s")
    assert (await later.trigger(7)).id == (await later.trigger(7)).id
    name = "sync"
    asked = await tickwell.scheduler.trigger(name, {"customer": 7}, unless="pending")
    assert asked.id == first.id
    await tickwell.travel("1m")
    assert done == [7, 7, 7]


async def test_requests_with_a_debounce_of_their_own_keep_the_maximum_of_their_job(tickwell):
    ran = []

    @tickwell.job(OnDemand(), debounce="30s", debounce_max="1m")
    async def index() -> None:
        ran.append(tickwell.now)

    start = tickwell.now
    for _ in range(7):
        await index.options(debounce="20s").trigger()
        await tickwell.travel("10s")
    assert [(at - start).total_seconds() for at in ran] == [60]
    await tickwell.travel("1m")
    longer = await index.options(debounce="90s").trigger()
    assert (longer.run_at - tickwell.now).total_seconds() == 90


async def test_a_job_that_is_unique_is_run_all_the_same_if_asked_for(tickwell):
    @tickwell.job(OnDemand(), unless="24h")
    async def sync() -> None: ...

    first = await sync.trigger()
    await tickwell.travel("1s")
    forced = await sync.options(unless="never").trigger()
    assert forced.id != first.id
    assert (await sync.trigger()).id == forced.id


async def test_a_hundred_requests_at_once_make_one_run(tickwell):
    @tickwell.job(OnDemand(), unless="running")
    async def sync(customer: int = 0) -> None: ...

    found = await asyncio.gather(*(sync.trigger(n % 4) for n in range(100)))
    assert len({one.id for one in found}) == 4
    assert sum(one.is_new for one in found) == 4


async def test_what_has_no_meaning_is_refused(tickwell):
    @tickwell.job(OnDemand(), debounce="30s")
    async def index() -> None: ...

    with pytest.raises(InvalidInput, match="starts when no more requests come"):
        await index.trigger_in("5m")
    with pytest.raises(InvalidJob, match="not both"):
        await index.options(unless="pending", debounce="5s").trigger()
    with pytest.raises(InvalidJob, match="needs `unless` or `debounce`"):
        await index.options(unique_key="k").trigger()
    forced = await index.options(unless="never").trigger_in("5m")
    assert forced.is_new


async def test_a_key_says_which_request_it_was(tickwell):
    @tickwell.job(OnDemand(), unless="pending")
    async def sync(customer: int = 0) -> None: ...

    first = await sync.options(key="a").trigger(1)
    assert (await sync.options(key="a").trigger(1)).id == first.id
    assert (await sync.options(key="b").trigger(1)).id == first.id
    assert (await sync.options(key="b").trigger(2)).is_new


async def test_jobs_are_read_as_they_were_declared(tickwell):
    @tickwell.job(OnDemand(), debounce="30s", debounce_max="5m", unique_key="k")
    async def index() -> None: ...

    await index.trigger()
    job = await tickwell.scheduler.get_job("index")
    assert (job.unless, job.unique_key) == (None, "k")
    assert [each.total_seconds() for each in (job.debounce, job.debounce_max)] == [30, 300]
