"""Rates: at most so many starts in any period of a length, among executions with one key."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from tickwell.domain.change import delete, edit, pause, resume
from tickwell.domain.execution import Claim, OutcomeKind, Reason, Start, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.policy import MINUTE, SECOND
from tickwell.domain.trigger import Every, OnDemand
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


async def _job(scene: Scene, rate: str = "1/1m", key: str | None = "k", **fields: Any) -> Job:
    definition: dict[str, Any] = {"trigger": OnDemand(), "rate": rate, "rate_key": key, **fields}
    return await scene.job(**definition)


async def _runs(scene: Scene, job: Job, count: int) -> list[str]:
    return await scene.run(*(a_request(job, T0 + n) for n in range(count)), now=T0 + count)


async def _states(scene: Scene, ids: list[str]) -> list[State]:
    return [(await scene.execution(id)).state for id in ids]


async def _end(scene: Scene, claim: Claim, started: int, ended: int) -> None:
    done = decide(claim, Outcome(kind=OutcomeKind.SUCCEEDED, started_at=started), ended)
    assert (await scene.store.finish([done], ended)).refused == []


async def _record(scene: Scene, claims: list[Claim], now: int) -> None:
    await scene.store.record_starts([Start(claim.id, claim.attempt, now) for claim in claims])


class Rates(Topic):
    """A permit is taken before an execution is queued, and is back a period after its start."""

    async def test_one_that_finds_no_permit_waits_for_the_rate(self, scene: Scene) -> None:
        job = await _job(scene)
        ids = await _runs(scene, job, 2)
        first, second = [await scene.execution(id) for id in ids]
        assert (first.state, first.reason) == (State.QUEUED, None)
        assert (second.state, second.reason) == (State.BLOCKED, Reason.RATE)

    async def test_a_permit_is_back_a_period_after_the_start(self, scene: Scene) -> None:
        job = await _job(scene)
        ids = await _runs(scene, job, 3)
        started = T0 + 7 * SECOND
        claim = await scene.claim_one(started)
        await _end(scene, claim, started, started + SECOND)
        next_one = await scene.execution(ids[1])
        assert (next_one.state, next_one.reason) == (State.WAITING, Reason.RATE)
        assert (await scene.execution(ids[2])).state is State.BLOCKED
        back = started + MINUTE
        assert (await scene.store.next_wakeup(started + SECOND)).promote == back
        assert (await scene.promote(back - 1)).queued == 0
        assert (await scene.promote(back)).queued == 1
        next_one = await scene.execution(ids[1])
        assert (next_one.state, next_one.run_at, next_one.reason) == (State.QUEUED, back, None)
        assert (await scene.execution(ids[2])).reason == Reason.RATE

    async def test_it_is_queued_ahead_of_the_instant_of_its_permit(self, scene: Scene) -> None:
        job = await _job(scene)
        ids = await _runs(scene, job, 2)
        claim = await scene.claim_one(T0 + 2)
        await _end(scene, claim, T0 + 2, T0 + 3)
        await scene.promote(minute(1), horizon=2 * SECOND)
        ahead = await scene.execution(ids[1])
        assert (ahead.state, ahead.run_at) == (State.QUEUED, minute(1) + 2)
        assert await scene.claim(minute(1)) == []
        assert (await scene.claim_one(minute(1) + 2)).id == ids[1]

    async def test_permits_that_come_back_one_after_the_other_are_had_one_after_the_other(
        self, scene: Scene
    ) -> None:
        job = await _job(scene, "2/1m")
        ids = await _runs(scene, job, 4)
        for claim, started in zip(await scene.claim(T0 + 4), (T0 + 4, T0 + 1004), strict=True):
            await _end(scene, claim, started, T0 + 1005)
        await scene.promote(minute(1), horizon=2 * SECOND)
        waited = [await scene.execution(id) for id in ids[2:]]
        assert [one.run_at for one in waited] == [minute(1) + 4, minute(1) + 1004]
        assert [one.state for one in waited] == [State.QUEUED] * 2

    async def test_a_late_claim_delays_the_next_start(self, scene: Scene) -> None:
        job = await _job(scene)
        ids = await _runs(scene, job, 2)
        await scene.promote(minute(5))
        late = await scene.claim_one(minute(5))
        assert late.id == ids[0]
        await _end(scene, late, minute(5), minute(5) + 1)
        await scene.promote(minute(5) + 1)
        assert await scene.claim(minute(6) - 1) == []
        await scene.promote(minute(6))
        assert (await scene.claim_one(minute(6))).id == ids[1]

    async def test_a_process_whose_clock_is_behind_starts_nothing_too_early(
        self, scene: Scene, other: Scene
    ) -> None:
        job = await _job(scene, "2/1m")
        await _runs(scene, job, 2)
        for claim in await scene.claim(T0 + 2):
            await _end(scene, claim, T0 + 2, T0 + 3)
        await scene.run(a_request(job, minute(1) + 9), now=minute(1) + 9)
        claim = await scene.claim_one(minute(1) + 9)
        await _end(scene, claim, minute(1) + 9, minute(1) + 10)
        # For the one that ended it the other permit has been back for a while.
        [early] = await other.run(a_request(job, minute(1)), now=minute(1))
        assert (await other.execution(early)).reason == Reason.RATE
        await other.promote(minute(1) + 2)
        queued = await other.execution(early)
        assert (queued.state, queued.run_at) == (State.QUEUED, minute(1) + 2)

    async def test_a_recorded_start_gives_the_permit_back_before_the_end(
        self, scene: Scene
    ) -> None:
        job = await _job(scene)
        ids = await _runs(scene, job, 3)
        long = await scene.claim_one(T0 + 3)
        starts = [Start(long.id, long.attempt, T0 + 3)]
        for _ in range(2):
            assert await scene.store.record_starts(starts) == [long.id]
        await scene.promote(minute(1) + 3)
        assert (await scene.claim_one(minute(1) + 3)).id == ids[1]
        await _end(scene, long, T0 + 3, minute(1) + 4)
        assert (await scene.execution(ids[2])).state is State.BLOCKED

    async def test_of_a_lost_attempt_the_permit_is_back_a_period_after_the_loss(
        self, scene: Scene
    ) -> None:
        job = await _job(scene)
        ids = await _runs(scene, job, 2)
        claim = await scene.claim_one(T0 + 2)
        lost = Outcome(kind=OutcomeKind.LOST, delay=5 * MINUTE)
        await scene.store.finish([decide(claim, lost, minute(2))], minute(2))
        assert (await scene.store.next_wakeup(minute(2))).promote == minute(3)
        await scene.promote(minute(3))
        assert (await scene.execution(ids[1])).state is State.QUEUED

    async def test_one_that_never_started_used_no_permit(self, scene: Scene) -> None:
        job = await _job(scene)
        ids = await _runs(scene, job, 2)
        claim = await scene.claim_one(T0 + 2)
        await scene.finish(claim, OutcomeKind.RELEASED, T0 + 3, started=False, delay=MINUTE)
        assert (await scene.execution(ids[1])).state is State.QUEUED

    async def test_every_attempt_counts(self, scene: Scene) -> None:
        job = await _job(scene, retry=5)
        [id] = await _runs(scene, job, 1)
        await scene.fail(await scene.claim_one(T0 + 1), T0 + 1, delay=SECOND)
        await scene.promote(T0 + 2 * SECOND)
        again = await scene.execution(id)
        assert (again.state, again.reason) == (State.WAITING, Reason.RATE)
        await scene.promote(minute(1))
        assert (await scene.execution(id)).state is State.QUEUED

    async def test_a_retry_at_once_passes_the_rate_though_its_start_was_recorded(
        self, scene: Scene
    ) -> None:
        """The recorded start has given the permit back, so the end finds none to keep."""
        job = await _job(scene, retry=5)
        [id] = await _runs(scene, job, 1)
        claim = await scene.claim_one(T0 + 1)
        await _record(scene, [claim], T0 + 1)
        await scene.finish(claim, OutcomeKind.FAILED, T0 + 2, started=False, delay=0)
        again = await scene.execution(id)
        assert (again.state, again.reason) == (State.WAITING, Reason.RATE)
        await scene.promote(minute(1) + 1)
        assert (await scene.execution(id)).state is State.QUEUED

    async def test_the_best_of_those_that_wait_is_next(self, scene: Scene) -> None:
        job = await _job(scene)
        urgent = await _job(scene, priority=10)
        ids = await _runs(scene, job, 3)
        await _end(scene, await scene.claim_one(T0 + 3), T0 + 3, T0 + 4)
        [best] = await scene.run(a_request(urgent, T0 + 5), now=T0 + 5)
        order = []
        for number in (1, 2, 3):
            now = minute(number) + 100 * number
            await scene.promote(now)
            claim = await scene.claim_one(now)
            order.append(claim.id)
            await _end(scene, claim, now, now)
        assert order == [best, ids[1], ids[2]]

    async def test_whoever_comes_when_a_permit_is_back_stands_behind_those_that_wait(
        self, scene: Scene
    ) -> None:
        job = await _job(scene)
        ids = await _runs(scene, job, 2)
        await _end(scene, await scene.claim_one(T0 + 2), T0 + 2, T0 + 3)
        [late] = await scene.run(a_request(job, minute(2)), now=minute(2))
        assert await _states(scene, [ids[1], late]) == [State.QUEUED, State.BLOCKED]

    async def test_whoever_leaves_makes_way(self, scene: Scene) -> None:
        now = T0 + 10
        for number, to in enumerate((State.CANCELLED, State.SKIPPED, State.PARKED)):
            job = await _job(scene, key=f"settle-{number}")
            ids = await _runs(scene, job, 3)
            await scene.settle([ids[1]], to, now)
            assert (await scene.execution(ids[2])).state is State.BLOCKED
            await scene.settle([ids[0]], to, now)
            assert (await scene.execution(ids[2])).state is State.QUEUED, to
            await scene.settle(ids, State.CANCELLED, now)
        for name, changer in (("pause", pause("ann", "wait")), ("delete", delete())):
            job = await _job(scene, key=name)
            other = await _job(scene, key=name)
            await scene.run(a_request(job, T0))
            [waits] = await scene.run(a_request(other, T0 + 1), now=T0 + 1)
            await scene.change(job, changer, now)
            assert (await scene.execution(waits)).state is State.QUEUED, name

    async def test_of_those_that_wait_another_is_looked_at_when_the_first_leaves(
        self, scene: Scene
    ) -> None:
        job = await _job(scene)
        ids = await _runs(scene, job, 3)
        await _end(scene, await scene.claim_one(T0 + 3), T0 + 3, T0 + 4)
        await scene.settle([ids[1]], State.CANCELLED, T0 + 5)
        last = await scene.execution(ids[2])
        assert (last.state, last.reason) == (State.WAITING, Reason.RATE)
        await scene.promote(minute(1) + 3)
        assert (await scene.execution(ids[2])).state is State.QUEUED

    async def test_held_runs_wait_for_the_rate_again(self, scene: Scene) -> None:
        job = await _job(scene)
        ids = await _runs(scene, job, 2)
        await scene.change(job, pause("ann", "wait"), T0 + 3)
        held = [await scene.execution(id) for id in ids]
        assert [(one.state, one.reason) for one in held] == [(State.WAITING, None)] * 2
        await scene.change(job, resume(), T0 + 4)
        await scene.promote(T0 + 4)
        assert await _states(scene, ids) == [State.QUEUED, State.BLOCKED]

    async def test_a_limit_is_raised_and_lowered_for_what_waits(self, scene: Scene) -> None:
        job = await _job(scene, "2/1m")
        ids = await _runs(scene, job, 4)
        wider = replace(job, rate="3/1m")
        await scene.change(job, edit(wider), T0 + 4)
        assert await _states(scene, ids) == [State.QUEUED] * 3 + [State.BLOCKED]
        claims = await scene.claim(T0 + 4)
        for claim in claims:
            await _end(scene, claim, T0 + 4 + claims.index(claim), T0 + 10)
        await scene.change(job, edit(replace(job, rate="1/1m")), T0 + 11)
        # All three starts are a period ago.
        await scene.promote(minute(1) + 5)
        assert (await scene.execution(ids[3])).state is State.WAITING
        await scene.promote(minute(1) + 6)
        assert (await scene.execution(ids[3])).state is State.QUEUED

    async def test_without_a_key_each_job_has_its_own(self, scene: Scene) -> None:
        jobs = [await _job(scene, key=None) for _ in range(2)]
        ids = await scene.run(*(a_request(job, T0) for job in [*jobs, *jobs]))
        states = await _states(scene, ids)
        assert states == [State.QUEUED] * 2 + [State.BLOCKED] * 2

    async def test_a_key_is_shared_by_the_jobs_of_a_project(self, scene: Scene) -> None:
        jobs = [await _job(scene) for _ in range(2)]
        yours = await _job(scene, project="yours")
        await scene.run(*(a_request(job, T0) for job in [*jobs, yours]))
        stats = await scene.store.stats("default")
        assert (stats[State.QUEUED], stats[State.BLOCKED]) == (1, 1)
        assert (await scene.store.stats("yours"))[State.QUEUED] == 1

    async def test_the_key_of_a_rate_may_depend_on_the_payload(self, scene: Scene) -> None:
        job = await _job(scene, key="{payload.customer}", payload={"customer": 1})
        ids = await scene.run(
            a_request(job, T0),
            a_request(job, T0, payload={"customer": 2}),
            a_request(job, T0, payload={"customer": 1}),
        )
        assert await _states(scene, ids) == [State.QUEUED, State.QUEUED, State.BLOCKED]

    async def test_the_jobs_own_gate_is_passed_first(self, scene: Scene) -> None:
        job = await _job(scene, trigger=Every("1m"), overlap=Overlap.QUEUE_ALL)
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1))
        await scene.fire(minute(2))
        waits = await scene.at(job, minute(2))
        assert (waits.state, waits.reason) == (State.BLOCKED, None)
        await _end(scene, claim, minute(1) + 30 * SECOND, minute(2))
        waits = await scene.at(job, minute(2))
        assert (waits.state, waits.reason) == (State.WAITING, Reason.RATE)
        await scene.promote(minute(2) + 30 * SECOND)
        assert (await scene.at(job, minute(2))).state is State.QUEUED

    async def test_one_that_waits_for_the_rate_expires(self, scene: Scene) -> None:
        job = await _job(scene, expires="30s")
        ids = await _runs(scene, job, 2)
        await _end(scene, await scene.claim_one(T0 + 2), T0 + 2, T0 + 3)
        await scene.promote(minute(1))
        expired = await scene.execution(ids[1])
        assert (expired.state, expired.reason) == (State.SKIPPED, Reason.EXPIRED)

    async def test_starts_that_are_forgotten_count_no_more(self, scene: Scene) -> None:
        job = await _job(scene)
        ids = await _runs(scene, job, 2)
        await _end(scene, await scene.claim_one(T0 + 2), T0 + 2, T0 + 3)
        await scene.store.prune(T0 + 4, 100)
        assert (await scene.execution(ids[1])).state is State.WAITING
        await scene.promote(minute(1) + 2)
        await _end(scene, await scene.claim_one(minute(1) + 2), minute(1) + 2, minute(2))
        await scene.store.prune(minute(9), 100)
        again = await scene.run(a_request(job, minute(9)), now=minute(9))
        assert await _states(scene, again) == [State.QUEUED]

    async def test_a_rate_is_exact_among_several_workers(self, scene: Scene, other: Scene) -> None:
        """Four workers, three starts in ten seconds: they start when they may, and no earlier."""
        jobs = [await _job(scene, "3/10s") for _ in range(2)]
        ids = await scene.run(*(a_request(jobs[n % 2], T0 + n) for n in range(12)), now=T0 + 12)
        sides, now, starts = (scene, other), T0 + 12, list[int]()
        while len(starts) < len(ids):
            await asyncio.gather(*(side.promote(now) for side in sides))
            batches = await asyncio.gather(
                *(sides[n % 2].claim(now, f"w{n}", limit=2) for n in range(4))
            )
            claims = [claim for batch in batches for claim in batch]
            definition = [now + 300 * n for n, _ in enumerate(claims)]
            starts += definition
            now = max([now, *definition])
            await asyncio.gather(
                *(
                    _end(sides[n % 2], claim, at, now)
                    for n, (claim, at) in enumerate(zip(claims, definition, strict=True))
                )
            )
            wakeup = await scene.store.next_wakeup(now)
            now = max(now, wakeup.promote or now)
        starts.sort()
        assert all(
            later - first >= 10 * SECOND for first, later in zip(starts, starts[3:], strict=False)
        )
        # Nothing is left unused: a start as soon as the third before it is a period old.
        assert starts[-1] - starts[0] <= 3 * 10 * SECOND + 4 * 3 * 300
        assert await scene.states() == [State.SUCCEEDED] * 12

    async def test_arrivals_and_ends_at_once_lose_no_permit(
        self, scene: Scene, other: Scene
    ) -> None:
        jobs = [await _job(scene, "2/1s") for _ in range(2)]
        now, starts = T0, list[int]()
        for number in range(12):
            await asyncio.gather(
                *(
                    side.run(a_request(jobs[n], now), now=now)
                    for n, side in enumerate((scene, other))
                )
            )
            await asyncio.gather(scene.promote(now), other.promote(now))
            claims = await scene.claim(now, f"w{number}")
            starts += [now] * len(claims)
            await asyncio.gather(
                _record(other, claims[:1], now),
                *(_end(scene, claim, now, now) for claim in claims[1:]),
            )
            now += 500
        assert len(starts) == 12
        assert all(
            later - first >= SECOND for first, later in zip(starts, starts[2:], strict=False)
        )
