"""Workers: heartbeats, recorded starts, and attempts of lost workers."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from tickwell.domain.change import delete, edit, pause, resume
from tickwell.domain.execution import Claim, Execution, OutcomeKind, Start, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Job
from tickwell.domain.policy import HOUR, LOST_BUDGET, Retry, Timeout
from tickwell.domain.trigger import OnDemand
from tickwell.ports.records import ExecutionFilter
from tickwell.testing.contract.builders import T0, a_request, a_worker, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


class Beating(Topic):
    """`beat`, `declare_lost`, `orphans`, `list_workers`."""

    async def test_the_beat_number_rises(self, scene: Scene) -> None:
        beats = [(await scene.beat("w1", now=T0 + n)).beat for n in range(3)]
        assert beats == [1, 2, 3]
        [liveness] = await scene.store.list_workers()
        assert (liveness.worker, liveness.beat) == (a_worker("w1"), 3)
        assert (liveness.seen_at, liveness.lost) == (T0 + 2, False)

    async def test_a_beat_names_its_worker(self, scene: Scene) -> None:
        assert [(await scene.beat(id)).worker for id in ("w2", "w1")] == ["w2", "w1"]

    async def test_a_row_has_all_that_its_process_says(self, scene: Scene) -> None:
        for worker in (
            a_worker("w1", roles=("api", "planner", "worker"), version="1.2", busy=3),
            a_worker("w2", beat_every=700, clock_offset=-1500, process="boot 17"),
            a_worker("w3", roles=("planner",), queues=(), abilities=(), capacity=0),
        ):
            await scene.store.beat(worker, T0)
            found = {one.worker.id: one.worker for one in await scene.store.list_workers()}
            assert found[worker.id] == worker

    async def test_a_beat_changes_what_the_row_says(self, scene: Scene) -> None:
        for busy in (0, 7, 2):
            await scene.store.beat(a_worker("w1", busy=busy), T0)
            [liveness] = await scene.store.list_workers()
            assert liveness.worker.busy == busy

    async def test_a_planner_that_is_lost_or_leaves_takes_nothing_along(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        held = await scene.claim_one(T0, "w1")
        planner = a_worker("p1", roles=("planner",), queues=(), abilities=(), capacity=0)
        seen = (await scene.store.beat(planner, T0)).beat
        assert await scene.store.declare_lost("p1", seen, T0)
        assert (await scene.store.beat(planner, T0)).lost
        assert await scene.store.orphans(T0, 10) == []
        await scene.store.beat(planner, T0, leaving=True)
        assert [one.worker.id for one in await scene.store.list_workers()] == ["w1"]
        assert (await scene.succeed(held, T0 + 1)).refused == []

    async def test_workers_are_listed_by_id(self, scene: Scene) -> None:
        for id in ("b", "a", "c"):
            await scene.beat(id)
        assert [one.worker.id for one in await scene.store.list_workers()] == ["a", "b", "c"]

    async def test_a_beat_says_what_the_worker_holds(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(*(a_request(job, T0 + n) for n in range(3)), now=T0 + 3)
        mine = await scene.claim(T0 + 3, "w1", limit=2, claim_id="c1")
        await scene.claim(T0 + 3, "w2")
        await scene.store.request_cancel("default", [mine[1].id], T0 + 3)
        pulse = await scene.beat("w1")
        assert not pulse.lost
        owned = {(one.id, one.attempt, one.claim_id, one.cancel) for one in pulse.owned}
        assert owned == {(mine[0].id, 1, "c1", False), (mine[1].id, 1, "c1", True)}
        await scene.succeed(mine, T0 + 4)
        assert (await scene.beat("w1")).owned == []

    async def test_one_that_leaves_and_holds_nothing_is_forgotten(self, scene: Scene) -> None:
        await scene.beat("w1")
        assert (await scene.beat("w1", leaving=True)).owned == []
        assert await scene.store.list_workers() == []
        assert (await scene.beat("w1", leaving=True)).owned == []
        assert await scene.store.list_workers() == []

    async def test_one_that_leaves_while_it_holds_something_stays(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        await scene.claim_one(T0)
        assert len((await scene.beat("w1", leaving=True)).owned) == 1
        assert len(await scene.store.list_workers()) == 1

    async def test_loss_is_declared_for_the_beat_that_was_seen(self, scene: Scene) -> None:
        seen = (await scene.beat("w1")).beat
        assert await scene.store.declare_lost("w1", seen, T0)
        [liveness] = await scene.store.list_workers()
        assert liveness.lost
        assert await scene.store.declare_lost("w1", seen, T0)

    async def test_a_worker_that_beat_meanwhile_is_not_lost(self, scene: Scene) -> None:
        seen = (await scene.beat("w1")).beat
        await scene.beat("w1")
        assert not await scene.store.declare_lost("w1", seen, T0)
        assert not (await scene.beat("w1")).lost

    async def test_lost_is_for_good(self, scene: Scene) -> None:
        seen = (await scene.beat("w1")).beat
        await scene.store.declare_lost("w1", seen, T0)
        pulse = await scene.beat("w1")
        assert (pulse.lost, pulse.beat) == (True, seen + 1)
        assert await scene.store.declare_lost("w1", seen, T0)
        assert (await scene.beat("w1")).lost

    async def test_an_unknown_worker_is_lost(self, scene: Scene) -> None:
        assert await scene.store.declare_lost("nobody", 1, T0)

    async def test_what_a_lost_worker_held_is_an_orphan(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(*(a_request(job, T0) for _ in range(3)))
        lost = await scene.claim(T0, "w1", limit=2)
        await scene.claim(T0, "w2")
        assert await scene.store.orphans(T0, 10) == []
        await scene.store.declare_lost("w1", (await scene.beat("w1")).beat, T0)
        orphans = await scene.store.orphans(T0, 10)
        assert orphans == sorted(lost, key=lambda claim: claim.id)
        assert await scene.store.orphans(T0, 1) == orphans[:1]

    async def test_recovery_is_fenced(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        zombie = await scene.claim_one(T0, "w1")
        await scene.store.declare_lost("w1", (await scene.beat("w1")).beat, T0)
        orphans = await scene.store.orphans(T0, 10)
        await scene.finish(orphans, OutcomeKind.LOST, T0 + 1, delay=0)
        again = await scene.claim_one(T0 + 1, "w2")
        assert (again.id, again.attempt, again.lost) == (zombie.id, 2, 1)
        assert len((await scene.succeed(zombie, T0 + 2)).refused) == 1
        assert (await scene.succeed(again, T0 + 3)).refused == []
        execution = await scene.execution(zombie)
        assert [one.outcome for one in execution.attempts] == ["lost", "succeeded"]
        assert execution.worker == "w2"

    async def test_past_its_deadline_it_is_an_orphan_whoever_holds_it(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), timeout=Timeout(soft="1m", hard="1m"))
        await scene.run(a_request(job, T0))
        claim = await scene.claim_one(T0)
        assert claim.deadline == minute(2)
        assert await scene.store.orphans(minute(2), 10) == []
        assert await scene.store.orphans(minute(2) + 1, 10) == [claim]

    async def test_what_a_forgotten_worker_held_is_an_orphan(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        claim = await scene.claim_one(T0)
        seen = (await scene.beat("w1")).beat
        await scene.store.declare_lost("w1", seen, T0)
        # Long after: whatever a store forgets of the worker, what it held is not forgotten.
        late = minute(60 * 24 * 3)
        await scene.store.prune(late, 100)
        assert await scene.store.orphans(late, 10) == [claim]

    async def test_what_is_lost_again_and_again_is_found_each_time(self, scene: Scene) -> None:
        """And when it is given up, its permits go to the next."""
        job = await scene.job(trigger=OnDemand(), concurrency=Concurrency("k", 1))
        requests = [a_request(job, T0 + n, overlap=Overlap.QUEUE_ALL) for n in range(2)]
        first, second = await scene.run(*requests, now=T0 + 1)
        for number in range(1, LOST_BUDGET + 1):
            now, worker = minute(number), f"w{number}"
            claim = await scene.claim_one(now, worker)
            assert (claim.id, claim.attempt, claim.lost) == (first, number, number - 1)
            await scene.store.declare_lost(worker, (await scene.beat(worker)).beat, now)
            assert await scene.store.orphans(now, 10) == [claim]
            await scene.finish([claim], OutcomeKind.LOST, now, delay=0)
            assert await scene.store.orphans(now, 10) == []
        assert (await scene.execution(first)).state is State.DEAD
        assert (await scene.claim_one(now, "last")).id == second


def _start(claim: Claim, at: int, *, attempt: int | None = None) -> Start:
    return Start(claim.id, claim.attempt if attempt is None else attempt, at)


class Starts(Topic):
    """`record_starts`, and what becomes of it."""

    async def _claims(self, scene: Scene, count: int = 1) -> list[Claim]:
        job = await scene.job(trigger=OnDemand(), retry=Retry(delay="0s", jitter=0))
        await scene.run(*(a_request(job, T0) for _ in range(count)))
        return await scene.claim(T0)

    async def test_a_running_execution_has_its_start(self, scene: Scene, other: Scene) -> None:
        claims = await self._claims(scene, 3)
        assert {(await scene.execution(one)).started_at for one in claims} == {None}
        starts = [_start(one, T0 + n) for n, one in enumerate(claims[:2], 1)]
        assert set(await scene.store.record_starts(starts)) == {one.id for one in claims[:2]}
        shown = [(await other.execution(one)).started_at for one in claims]
        assert shown == [T0 + 1, T0 + 2, None]
        where = ExecutionFilter(project="default", states=frozenset({State.RUNNING}))
        listed = {
            one.id: one.started_at for one in (await other.store.list_executions(where)).items
        }
        assert [listed[one.id] for one in claims] == shown

    async def test_of_no_attempts_nothing_is_written(self, scene: Scene) -> None:
        assert await scene.store.record_starts([]) == []

    async def test_another_attempt_is_left_alone(self, scene: Scene) -> None:
        [claim] = await self._claims(scene)
        assert await scene.store.record_starts([_start(claim, T0, attempt=2)]) == []
        assert (await scene.execution(claim)).started_at is None
        nobody = Start("00000000-0000-7000-8000-000000000000", 1, T0)
        assert await scene.store.record_starts([nobody]) == []

    async def test_one_that_has_ended_is_left_alone(self, scene: Scene) -> None:
        [claim] = await self._claims(scene)
        await scene.finish(claim, OutcomeKind.SUCCEEDED, T0 + 5)
        assert await scene.store.record_starts([_start(claim, T0 + 9)]) == []
        assert (await scene.execution(claim)).started_at == T0

    async def test_the_report_counts_in_the_end(self, scene: Scene) -> None:
        [claim] = await self._claims(scene)
        await scene.store.record_starts([_start(claim, T0 + 3)])
        await scene.finish(claim, OutcomeKind.SUCCEEDED, T0 + 5)
        execution = await scene.execution(claim)
        assert execution.started_at == T0
        assert [one.started_at for one in execution.attempts] == [T0]

    async def test_the_next_attempt_begins_without_a_start(self, scene: Scene) -> None:
        [claim] = await self._claims(scene)
        await scene.store.record_starts([_start(claim, T0)])
        await scene.fail(claim, T0 + 5)
        assert (await scene.execution(claim)).started_at == T0  # of the last one that ended
        await scene.promote(T0 + 5)
        again = await scene.claim_one(T0 + 5)
        assert (await scene.execution(again)).started_at is None
        assert await scene.store.record_starts([_start(claim, T0)]) == []
        assert await scene.store.record_starts([_start(again, T0 + 6)]) == [again.id]
        assert (await scene.execution(again)).started_at == T0 + 6

    async def test_an_orphan_has_its_start(self, scene: Scene, other: Scene) -> None:
        claims = await self._claims(scene, 2)
        await scene.store.record_starts([_start(claims[0], T0 + 1)])
        pulse = await scene.beat()
        assert await other.store.declare_lost("w1", pulse.beat, T0 + 2)
        orphans = {one.id: one.started_at for one in await other.store.orphans(T0 + 2, 10)}
        assert orphans == {claims[0].id: T0 + 1, claims[1].id: None}

    async def test_a_cancel_request_leaves_it(self, scene: Scene, other: Scene) -> None:
        [claim] = await self._claims(scene)
        await scene.store.record_starts([_start(claim, T0 + 1)])
        await other.store.request_cancel("default", [claim.id], T0 + 2)
        execution = await scene.execution(claim)
        assert (execution.started_at, execution.cancel_requested) == (T0 + 1, True)

    async def test_every_attempt_keeps_its_own_result(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), retry=Retry(max_attempts=2, delay="0s", jitter=0))
        [id] = await scene.run(a_request(job, T0))
        answers: list[object] = [{"status": 500}, {"status": 502, "body": "è"}, None, [4]]
        now = T0
        for answer in answers[:2]:
            await scene.promote(now)
            await scene.fail(await scene.claim_one(now), now + 1, result=answer)
            now += 10
        execution = await scene.execution(id)
        assert execution.state is State.DEAD
        assert [one.result for one in execution.attempts] == answers[:2]
        assert await scene.store.revive("default", [id], now) == [id]
        await scene.promote(now)
        claim = await scene.claim_one(now)
        assert [one.result for one in (await scene.execution(id)).attempts] == answers[:2]
        await scene.fail(claim, now + 1, result=answers[2])
        await scene.promote(now + 1)
        claim = await scene.claim_one(now + 1)
        await scene.finish(claim, OutcomeKind.SUCCEEDED, now + 2, result=answers[3])
        execution = await scene.execution(id)
        assert [one.result for one in execution.attempts] == answers
        assert execution.result == answers[3]


#: Something that happens while a worker holds an attempt, at this instant.
Happening = Callable[[Scene, Job, int], Awaitable[object]]


async def _nothing(scene: Scene, job: Job, now: int) -> None:
    pass


async def _edit(scene: Scene, job: Job, now: int) -> None:
    [entry] = await scene.store.get_jobs(job.project, [job.id])
    await scene.change(job, edit(replace(entry.job, priority=9)), now)


async def _pause_and_resume(scene: Scene, job: Job, now: int) -> None:
    await scene.change(job, pause("ann", "why not"), now)
    await scene.change(job, resume(), now)


async def _delete(scene: Scene, job: Job, now: int) -> None:
    await scene.change(job, delete(), now)


async def _cancel(scene: Scene, job: Job, now: int) -> None:
    live = [one.id for one in await scene.executions(job)]
    await scene.store.request_cancel(job.project, live, now)


class Losses(Topic):
    """What `orphans` and `finish` leave of lost attempts."""

    @pytest.mark.parametrize("ahead", [True, False])
    @pytest.mark.parametrize("happens", [_nothing, _edit, _pause_and_resume, _delete, _cancel])
    async def test_every_attempt_is_on_record(
        self, scene: Scene, happens: Happening, *, ahead: bool
    ) -> None:
        retry = Retry(max_losses=2, delay="0s", jitter=0)
        job = await scene.job(overlap=Overlap.ALLOW, retry=retry)
        # Held for its instant, a change of the job calls it off; once it is due, not.
        at = minute(1) - 500 if ahead else minute(1) + 500
        await scene.fire(minute(1) - 1000, horizon=2000)
        claims = await scene.claim(at - 100, "w0", lead=2000)
        assert len(claims) == 1
        await happens(scene, job, at)
        now, started = minute(1) + 1000, [1]
        one = await self._lose_all(scene, job, "w0", now)
        for worker in ("w1", "w2", "w3"):
            now += HOUR
            if one.state is State.DEAD:
                await scene.store.revive(job.project, [one.id], now)
            await scene.promote(now)
            started += [claim.attempt for claim in await scene.claim(now, worker, ids=(one.id,))]
            one = await self._lose_all(scene, job, worker, now)
        recorded = [attempt.number for attempt in one.attempts]
        assert recorded == started == [*range(1, one.attempt + 1)]
        assert {attempt.outcome for attempt in one.attempts} == {OutcomeKind.LOST}

    async def _lose_all(self, scene: Scene, job: Job, worker: str, now: int) -> Execution:
        """Lose the worker with all that it holds."""
        assert (await scene.sweep(worker, now)).refused == []
        return await scene.at(job, minute(1))
