"""Starts: an attempt under way says since when, and one that is lost keeps it."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from tickwell.domain.execution import Claim, OutcomeKind, Start, State
from tickwell.domain.policy import Retry
from tickwell.domain.trigger import OnDemand
from tickwell.ports.records import ExecutionFilter
from tickwell.testing.contract.builders import T0, a_request
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


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
