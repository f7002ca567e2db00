"""Jobs that a process cannot read: they hold up no other, and lose nothing."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from tickwell.domain.change import edit
from tickwell.domain.execution import OutcomeKind, Reason, State
from tickwell.domain.job import Cursor, Job
from tickwell.domain.planning import Plan
from tickwell.domain.policy import DAY, MINUTE, SECOND, Misfire, Retention
from tickwell.domain.trigger import Every, OnDemand
from tickwell.ports.records import JobFilter, Promoted
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene, planner, report
from tickwell.testing.contract.topic import Topic

#: Makes a stored job unreadable; what it answers makes it readable again.
Corrupt = Callable[[Job], Awaitable[Callable[[], Awaitable[None]]]]

_FAILED, _SUCCEEDED = OutcomeKind.FAILED, OutcomeKind.SUCCEEDED


class UnreadableDefinitions(Topic):
    """What `corrupt` did is met through the other handle, which has read nothing before."""

    async def test_an_unreadable_job_is_left_out_of_firing_and_named(
        self, scene: Scene, other: Scene, corrupt: Corrupt
    ) -> None:
        bad, good = await scene.job(), await scene.job()
        await corrupt(bad)
        fired = await other.fire(minute(1))
        assert (fired.jobs, fired.executions) == (1, 1)
        assert await scene.fire_times(good) == [minute(1)]
        wakeup = await other.store.next_wakeup(minute(1))
        assert [one.job for one in wakeup.unreadable] == [bad.id]
        assert wakeup.unreadable[0].why
        assert wakeup.fire == minute(2)  # nobody is woken for what is left out
        assert (await scene.cursor(bad)).next_fire_time == minute(1)
        assert (await other.store.next_wakeup(minute(1))).unreadable == []

    async def test_it_is_tried_and_named_again_after_a_minute(
        self, scene: Scene, other: Scene, corrupt: Corrupt
    ) -> None:
        bad = await scene.job()
        await corrupt(bad)
        named = []
        for now in (minute(1), minute(1) + 30 * SECOND, minute(2), minute(3) - 1, minute(3)):
            await other.fire(now)
            wakeup = await other.store.next_wakeup(now)
            named += [now for one in wakeup.unreadable if one.job == bad.id]
        assert named == [minute(1), minute(2), minute(3)]

    async def test_once_it_can_be_read_nothing_is_missing(
        self, scene: Scene, other: Scene, corrupt: Corrupt
    ) -> None:
        bad = await scene.job(misfire=Misfire(grace="1d"))
        mend = await corrupt(bad)
        assert (await other.fire(minute(1))).jobs == 0
        await mend()
        await other.fire(minute(3))
        assert await scene.fire_times(bad) == [minute(1), minute(2), minute(3)]

    async def test_unreadable_jobs_do_not_use_up_the_limit_of_firing(
        self, scene: Scene, other: Scene, corrupt: Corrupt
    ) -> None:
        bad = [await scene.job(trigger=Every("1m")) for _ in range(3)]
        good = await scene.job(trigger=Every("2m"))
        for job in bad:
            await corrupt(job)
        for _ in range(4):
            await other.fire(minute(2), limit=1)
        assert await scene.fire_times(good) == [minute(2)]

    async def test_its_queued_executions_are_left_to_whoever_can_read_it(
        self, scene: Scene, other: Scene, corrupt: Corrupt
    ) -> None:
        bad, good = await scene.job(trigger=OnDemand()), await scene.job(trigger=OnDemand())
        [left] = await scene.run(a_request(bad, T0))
        await scene.run(a_request(good, T0 + 1), now=T0 + 1)
        mend = await corrupt(bad)
        claim = await other.claim_one(T0 + 1, limit=1)
        assert claim.job.id == good.id
        assert (await scene.execution(left)).state is State.QUEUED
        wakeup = await other.store.next_wakeup(T0 + 1)
        assert [one.job for one in wakeup.unreadable] == [bad.id]
        assert await other.claim(T0 + 2) == []
        await mend()
        later = await other.claim_one(T0 + 1 + MINUTE)
        assert (later.id, later.attempt, later.charged) == (left, 1, 1)

    async def test_the_same_by_several_queues_and_by_ids(
        self, scene: Scene, other: Scene, corrupt: Corrupt
    ) -> None:
        bad, good = await scene.job(trigger=OnDemand()), await scene.job(trigger=OnDemand())
        ids = await scene.run(
            a_request(bad, T0), a_request(good, T0), a_request(bad, T0), a_request(good, T0)
        )
        await corrupt(bad)
        several = await other.claim(T0, queues=("default", "second"), limit=1)
        rest = await other.claim(T0, ids=tuple(ids))
        assert sorted(claim.id for claim in several + rest) == sorted([ids[1], ids[3]])
        assert await scene.states(bad) == [State.QUEUED] * 2

    async def test_its_orphans_are_left_to_whoever_can_read_it(
        self, scene: Scene, other: Scene, corrupt: Corrupt
    ) -> None:
        bad, good = await scene.job(trigger=OnDemand()), await scene.job(trigger=OnDemand())
        await scene.run(a_request(bad, T0), a_request(good, T0))
        claims = {claim.job.id: claim for claim in await scene.claim(T0)}
        await scene.store.declare_lost("w1", 1, T0)
        mend = await corrupt(bad)
        assert [claim.job.id for claim in await other.store.orphans(T0, 10)] == [good.id]
        assert await scene.states(bad) == [State.RUNNING]
        assert len(await other.store.orphans(T0, 1)) == 1
        await mend()
        found = await other.store.orphans(T0 + MINUTE, 10)
        assert {claim.id for claim in found} == {claim.id for claim in claims.values()}

    async def test_what_it_has_pending_ends_when_it_can_be_read(
        self, scene: Scene, other: Scene, corrupt: Corrupt
    ) -> None:
        bad = await scene.job(trigger=OnDemand(), expires="1s")
        good = await scene.job(trigger=OnDemand(), expires="1s")
        await scene.run(a_request(bad, T0), a_request(good, T0))
        mend = await corrupt(bad)
        assert await other.promote(minute(1)) == Promoted(skipped=1, expired=1)
        assert (await scene.states(bad), await scene.states(good)) == (
            [State.QUEUED],
            [State.SKIPPED],
        )
        assert (await other.store.next_wakeup(minute(1))).expire is None
        await mend()
        assert await other.promote(minute(2)) == Promoted(skipped=1, expired=1)
        [ended] = await scene.executions(bad)
        assert ended.reason == Reason.EXPIRED

    async def test_lists_of_jobs_leave_it_out(
        self, scene: Scene, other: Scene, corrupt: Corrupt
    ) -> None:
        jobs = [await scene.job(name) for name in ("a", "b", "c", "d")]
        for job in jobs[1:3]:
            await corrupt(job)
        found, cursor = [], None
        for _ in range(4):
            page = await other.store.list_jobs(JobFilter(), cursor, limit=1)
            found += [entry.job.name for entry in page.items]
            cursor = page.cursor
            if cursor is None:
                break
        assert found == ["a", "d"]

    async def test_the_history_of_others_is_pruned(
        self, scene: Scene, other: Scene, corrupt: Corrupt
    ) -> None:
        retention = Retention(age="1m")
        bad = await scene.job(trigger=OnDemand(), retention=retention)
        good = await scene.job(trigger=OnDemand(), retention=retention)
        await scene.run(a_request(bad, T0), a_request(good, T0))
        await scene.succeed(await scene.claim(T0), T0)
        await corrupt(bad)
        await other.store.prune(T0 + DAY, 100)
        assert await scene.executions(good) == []

    async def test_what_was_claimed_before_ends_by_what_it_was_claimed_by(
        self, scene: Scene, other: Scene, corrupt: Corrupt
    ) -> None:
        bad, good = await scene.job(trigger=OnDemand()), await scene.job(trigger=OnDemand())
        await scene.run(a_request(bad, T0), a_request(bad, T0 + 1), a_request(good, T0), now=T0 + 1)
        claims = await scene.claim(T0 + 1)
        await other.change(bad, edit(replace(bad, payload=2)), T0 + 1)
        await corrupt(bad)
        failed = next(claim for claim in claims if claim.job.id == bad.id)
        reports = [
            report(claim, _FAILED if claim is failed else _SUCCEEDED, T0 + 2) for claim in claims
        ]
        assert (await scene.store.finish(reports, T0 + 2)).refused == []
        assert sorted(await scene.states(bad)) == [State.SUCCEEDED, State.WAITING]
        assert await scene.states(good) == [State.SUCCEEDED]

    async def test_a_plan_that_fails_holds_up_no_other_job(self, scene: Scene) -> None:
        first = await scene.job(trigger=Every("1m"))
        bad = await scene.job(trigger=Every("2m"), misfire=Misfire(grace="1d"))
        last = await scene.job(trigger=Every("3m"))
        await scene.run(a_request(bad, T0))

        def plan(job: Job, cursor: Cursor) -> Plan:
            if job.id == bad.id:
                raise ZeroDivisionError("no plan")
            return planner(minute(3))(job, cursor)

        await scene.store.fire_due(minute(3), 0, 10, plan)
        assert minute(3) in await scene.fire_times(first)
        assert await scene.fire_times(last) == [minute(3)]
        wakeup = await scene.store.next_wakeup(minute(3))
        assert [(one.job, "no plan" in one.why) for one in wakeup.unreadable] == [(bad.id, True)]
        assert wakeup.fire == minute(4)
        assert (await scene.cursor(bad)).next_fire_time == minute(2)
        # What it has pending is sound.
        claims = await scene.claim(minute(3), limit=1)
        assert [claim.job.id for claim in claims] == [bad.id]
        await scene.fire(minute(4))
        fires = [one.fire_time for one in await scene.executions(bad) if one.kind == "fire"]
        assert fires == [minute(2), minute(4)]
