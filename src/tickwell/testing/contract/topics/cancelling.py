"""Cancelling and settling executions."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from typing import Any

import pytest

from tickwell.domain.change import delete
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Job
from tickwell.domain.trigger import OnDemand
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.snapshot import snapshot
from tickwell.testing.contract.topic import Topic


class Cancelling(Topic):
    """`request_cancel`, `revive` and `purge`."""

    async def test_what_is_pending_is_cancelled_and_what_runs_is_asked(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(a_request(job, T0), a_request(job, minute(1)))
        claim = await scene.claim_one(T0)
        done = await scene.store.request_cancel("default", [*ids, "nobody"], T0 + 1)
        assert sorted(done) == sorted(ids)
        waiting = await scene.execution(ids[1])
        assert (waiting.state, waiting.reason) == (State.CANCELLED, "cancelled")
        assert waiting.ended_at == T0 + 1
        running = await scene.execution(claim)
        assert (running.state, running.cancel_requested) == (State.RUNNING, True)

    async def test_cancelling_again_has_no_second_effect(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(a_request(job, T0), a_request(job, minute(1)))
        await scene.claim_one(T0)
        await scene.store.request_cancel("default", ids, T0)
        before = await snapshot(scene.store, T0)
        assert await scene.store.request_cancel("default", ids, T0 + 1) == [ids[0]]
        assert await snapshot(scene.store, T0) == before

    async def test_other_projects_and_what_has_ended_are_left_alone(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        [id] = await scene.run(a_request(job, T0))
        assert await scene.store.request_cancel("yours", [id], T0) == []
        await scene.succeed(await scene.claim_one(T0), T0)
        assert await scene.store.request_cancel("default", [id], T0) == []
        assert (await scene.execution(id)).state is State.SUCCEEDED

    async def _dead(self, scene: Scene, **fields: Any) -> tuple[Job, str]:
        job = await scene.job(**{"trigger": OnDemand(), **fields})
        [id] = await scene.run(a_request(job, T0))
        claim = await scene.claim_one(T0)
        await scene.fail(claim, T0, retry=False, error="broken")
        return job, id

    async def test_a_dead_one_runs_again_under_its_id_with_a_new_budget(self, scene: Scene) -> None:
        _, id = await self._dead(scene)
        assert await scene.store.revive("default", [id, "nobody"], minute(5)) == [id]
        execution = await scene.execution(id)
        assert (execution.state, execution.run_at) == (State.QUEUED, minute(5))
        assert (execution.attempt, execution.charged) == (1, 0)
        assert (execution.reason, execution.ended_at, execution.worker) == (None, None, None)
        assert execution.fire_time == T0
        claim = await scene.claim_one(minute(5))
        assert (claim.attempt, claim.charged) == (2, 1)
        await scene.succeed(claim, minute(6))
        assert [one.outcome for one in (await scene.execution(id)).attempts] == [
            OutcomeKind.FAILED,
            OutcomeKind.SUCCEEDED,
        ]

    async def test_a_revived_one_queues_up_behind_what_was_due_before(self, scene: Scene) -> None:
        job, id = await self._dead(scene)
        [earlier] = await scene.run(a_request(job, minute(4)), now=minute(4))
        await scene.store.revive("default", [id], minute(5))
        claims = await scene.claim(minute(5))
        assert [claim.id for claim in claims] == [earlier, id]

    async def test_a_revived_one_has_no_time_to_live_any_more(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), expires="1m")
        [id] = await scene.run(a_request(job, T0))
        claim = await scene.claim_one(T0)
        await scene.finish(claim, OutcomeKind.SNOOZED, T0, started=False, retry=False)
        assert await scene.store.revive("default", [id], minute(5)) == [id]
        assert (await scene.claim_one(minute(5))).attempt == 2

    async def test_reviving_again_does_nothing(self, scene: Scene) -> None:
        _, id = await self._dead(scene)
        assert await scene.store.revive("default", [id, id], minute(5)) == [id]
        before = await snapshot(scene.store, minute(6))
        assert await scene.store.revive("default", [id], minute(6)) == []
        assert await snapshot(scene.store, minute(6)) == before

    async def test_only_the_dead_of_the_project_are_revived(self, scene: Scene) -> None:
        job, id = await self._dead(scene)
        [alive] = await scene.run(a_request(job, T0))
        assert await scene.store.revive("yours", [id], T0) == []
        assert await scene.store.revive("default", [alive], T0) == []

    async def test_the_dead_of_a_deleted_job_stay_dead(self, scene: Scene) -> None:
        job, id = await self._dead(scene)
        await scene.change(job, delete(), T0)
        assert await scene.store.revive("default", [id], T0) == []
        assert (await scene.execution(id)).state is State.DEAD

    async def test_a_purged_one_is_gone_with_its_attempts(self, scene: Scene) -> None:
        job, id = await self._dead(scene)
        [alive] = await scene.run(a_request(job, T0))
        assert await scene.store.purge("default", [id, id, "nobody"], minute(5)) == [id]
        assert await scene.store.get_execution("default", id) is None
        stats = await scene.store.stats("default")
        assert (stats[State.DEAD], stats[State.QUEUED]) == (0, 1)
        assert await scene.store.purge("default", [id], minute(5)) == []
        assert (await scene.claim_one(minute(5))).id == alive

    async def test_only_the_dead_of_the_project_are_purged(self, scene: Scene) -> None:
        job, id = await self._dead(scene)
        ended, alive = await scene.run(a_request(job, T0), a_request(job, minute(1)))
        await scene.succeed(await scene.claim_one(T0), T0)
        before = await snapshot(scene.store, T0)
        assert await scene.store.purge("yours", [id], T0) == []
        assert await scene.store.purge("default", [ended, alive], T0) == []
        assert await snapshot(scene.store, T0) == before

    async def test_a_deleted_job_goes_once_its_dead_are_purged(self, scene: Scene) -> None:
        job, id = await self._dead(scene)
        await scene.change(job, delete(), T0)
        assert await scene.store.purge("default", [id], T0) == [id]
        await scene.store.prune(T0, 10)
        assert await scene.store.get_jobs("default", [job.id]) == []

    async def test_a_key_is_free_again_once_its_run_is_purged(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        run = a_request(job, T0)
        run.key = "order-7"
        [id] = await scene.run(run)
        await scene.fail(await scene.claim_one(T0), T0, retry=False)
        await scene.store.purge("default", [id], T0)
        again = a_request(job, minute(1))
        again.key = "order-7"
        assert await scene.run(again) == [again.id]


class Settling(Topic):
    """`settle`."""

    @pytest.mark.parametrize("to", [State.CANCELLED, State.SKIPPED])
    async def test_it_ends_what_is_pending(self, scene: Scene, to: State) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(a_request(job, T0), a_request(job, minute(1)))
        assert sorted(await scene.settle(ids, to, T0 + 5)) == sorted(ids)
        for id in ids:
            execution = await scene.execution(id)
            assert (execution.state, execution.reason) == (to, "because")
            assert execution.ended_at == T0 + 5
        assert await scene.claim(minute(2)) == []

    async def test_it_moves_only_what_is_in_the_states_given(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(a_request(job, T0), a_request(job, minute(1)))
        moved = await scene.settle(ids, State.CANCELLED, T0, states={State.WAITING})
        assert moved == [ids[1]]
        assert (await scene.execution(ids[0])).state is State.QUEUED

    @pytest.mark.parametrize(
        "gate",
        [
            {"overlap": Overlap.QUEUE_ALL},
            {"overlap": Overlap.ALLOW, "concurrency": Concurrency("k", 1)},
        ],
    )
    async def test_one_that_is_queued_by_the_move_of_another_stays(
        self, scene: Scene, gate: dict[str, Any]
    ) -> None:
        job = await scene.job(trigger=OnDemand(), **gate)
        runs = [a_request(job, T0 + n, overlap=job.overlap) for n in range(2)]
        ids = await scene.run(*runs, now=T0 + 1)
        moved = await scene.settle(ids, State.CANCELLED, T0 + 1, states={State.QUEUED})
        assert moved == [ids[0]]
        assert (await scene.execution(ids[1])).state is State.QUEUED

    async def test_what_runs_or_has_ended_is_not_moved(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(a_request(job, T0), a_request(job, T0 + 1), now=T0 + 1)
        claims = await scene.claim(T0 + 1)
        await scene.succeed(claims[0], T0 + 1)
        before = await snapshot(scene.store, T0 + 2)
        assert await scene.settle([*ids, "nobody"], State.CANCELLED, T0, states=set(State)) == []
        assert await snapshot(scene.store, T0 + 2) == before

    async def test_settling_again_does_nothing(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(a_request(job, T0))
        await scene.settle(ids, State.CANCELLED, T0)
        before = await snapshot(scene.store, T0 + 5)
        assert await scene.settle(ids, State.CANCELLED, T0 + 5) == []
        assert await snapshot(scene.store, T0 + 5) == before

    async def test_what_is_parked_keeps_its_reason_until_it_waits_again(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        [id] = await scene.run(a_request(job, T0))
        assert await scene.settle([id], State.PARKED, T0) == [id]
        parked = await scene.execution(id)
        assert (parked.state, parked.reason, parked.ended_at) == (State.PARKED, "because", None)
        assert await scene.claim(T0) == []
        assert await scene.settle([id], State.PARKED, T0 + 1) == []
        assert await scene.settle([id], State.WAITING, T0 + 1) == [id]
        waiting = await scene.execution(id)
        assert (waiting.state, waiting.reason) == (State.WAITING, None)

    async def test_only_what_is_parked_is_told_to_wait(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(a_request(job, T0), a_request(job, minute(1)))
        assert await scene.settle(ids, State.WAITING, T0) == []
        assert await scene.states() == [State.QUEUED, State.WAITING]

    async def test_what_is_parked_keeps_its_place_in_its_jobs_gate(self, scene: Scene) -> None:
        job = await scene.job(overlap=Overlap.QUEUE_ALL)
        await scene.fire(minute(1))
        await scene.settle([(await scene.at(job, minute(1))).id], State.PARKED, minute(1))
        await scene.fire(minute(2))
        assert await scene.states(job) == [State.PARKED, State.BLOCKED]

    async def test_the_permit_passes_on(self, scene: Scene) -> None:
        job = await scene.job(overlap=Overlap.QUEUE_ALL)
        await scene.fire(minute(1))
        await scene.fire(minute(2))
        await scene.settle([(await scene.at(job, minute(1))).id], State.CANCELLED, minute(2))
        assert await scene.states(job) == [State.CANCELLED, State.QUEUED]
