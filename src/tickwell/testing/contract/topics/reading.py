"""Reading executions, skips and counts."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from tickwell.domain.change import delete, pause
from tickwell.domain.execution import Execution, Kind, OutcomeKind, State
from tickwell.domain.job import JobState
from tickwell.domain.policy import MINUTE
from tickwell.domain.queue import LaneLength
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.errors import InvalidInput
from tickwell.ports.records import ExecutionFilter
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


class Reading(Topic):
    """Executions one by one and in lists, skips, and what is counted."""

    async def _ids(self, scene: Scene, **where: Any) -> list[str]:
        page = await scene.store.list_executions(ExecutionFilter(**where))
        return [execution.id for execution in page.items]

    async def test_an_execution_is_seen_in_its_project_only(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), project="mine")
        [id] = await scene.run(a_request(job, T0))
        assert await scene.store.get_execution("yours", id) is None
        assert await scene.store.get_execution("mine", "nobody") is None
        assert (await scene.execution(id, "mine")).project == "mine"

    async def test_newest_first_in_pages_without_gap_or_repetition(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(*(a_request(job, T0 + n) for n in range(25)), now=T0 + 30)
        seen: list[str] = []
        cursor = None
        while True:
            page = await scene.store.list_executions(ExecutionFilter(), cursor, limit=10)
            assert len(page.items) <= 10
            seen += [execution.id for execution in page.items]
            cursor = page.cursor
            if cursor is None:
                break
        assert seen == sorted(ids, reverse=True)

    async def test_a_full_last_page_of_executions_is_the_end(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0), a_request(job, T0))
        page = await scene.store.list_executions(ExecutionFilter(), limit=2)
        assert (len(page.items), page.cursor) == (2, None)

    async def test_by_project_job_state_kind_and_queue(self, scene: Scene) -> None:
        a = await scene.job(project="a")
        b = await scene.job(queue="slow", trigger=OnDemand())
        [request] = await scene.run(a_request(b, minute(9)))
        await scene.fire(minute(1))
        fire = (await scene.at(a, minute(1))).id
        assert await self._ids(scene, project="a") == [fire]
        assert await self._ids(scene, job_id=b.id) == [request]
        assert await self._ids(scene, states=frozenset({State.WAITING})) == [request]
        assert await self._ids(scene, states=frozenset()) == []
        assert await self._ids(scene, kind=Kind.FIRE) == [fire]
        assert await self._ids(scene, queue="slow") == [request]
        assert await self._ids(scene, queue="slow", kind=Kind.FIRE) == []

    async def test_by_fire_time_and_by_run_time(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(*(a_request(job, minute(n)) for n in range(4)))
        assert await self._ids(scene, since=minute(1), until=minute(3)) == [ids[2], ids[1]]
        assert await self._ids(scene, due_before=minute(1)) == [ids[0]]
        claim = await scene.claim_one(T0)
        await scene.finish(claim, OutcomeKind.SNOOZED, T0, delay=5 * MINUTE)
        assert await self._ids(scene, due_before=minute(1)) == []
        assert await self._ids(scene, until=minute(1)) == [ids[0]]

    async def test_attempts_are_read_with_one_execution_and_not_in_lists(
        self, scene: Scene
    ) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        claim = await scene.claim_one(T0)
        assert (await scene.execution(claim)).attempts == []
        await scene.succeed(claim, T0)
        assert len((await scene.execution(claim)).attempts) == 1
        assert (await scene.executions())[0].attempts == []

    async def test_a_list_shows_all_but_the_attempts(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0, payload={"n": 1}))
        claim = await scene.claim_one(T0)
        await scene.finish(claim, OutcomeKind.FAILED, T0, retry=False, error="x", result=[1])
        alone = await scene.execution(claim)
        alone.attempts = []
        assert await scene.executions() == [alone]

    async def test_an_execution_that_is_returned_is_the_callers_own(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        [id] = await scene.run(a_request(job, T0, payload=[1]))
        claim = await scene.claim_one(T0)
        result = {"list": [1]}
        await scene.finish(claim, OutcomeKind.SUCCEEDED, T0, result=result)
        result["list"].append(2)

        def spoil(execution: Execution) -> None:
            execution.payload.append(2)
            execution.result["list"].append(3)
            execution.state = State.DEAD
            execution.attempts.clear()

        spoil(await scene.execution(id))
        spoil((await scene.executions())[0])
        execution = await scene.execution(id)
        assert (execution.payload, execution.result) == ([1], {"list": [1]})
        assert (execution.state, len(execution.attempts)) == (State.SUCCEEDED, 1)

    @pytest.mark.parametrize("states", [None, {State.QUEUED}, {State.SUCCEEDED}])
    async def test_looking_at_few_executions_at_a_time_finds_all(
        self, scene: Scene, states: set[State] | None
    ) -> None:
        job = await scene.job(trigger=OnDemand(), queue="a")
        other = await scene.job(trigger=OnDemand(), queue="b")
        made = await scene.run(*(a_request((job, other)[n % 2], T0) for n in range(7)))
        if states == {State.SUCCEEDED}:
            await scene.succeed(await scene.claim(T0, queues=("a", "b")), T0)
        chosen = None if states is None else frozenset(states)
        where = ExecutionFilter(project="default", queue="b", states=chosen, look=2)
        found: list[str] = []
        page = await scene.store.list_executions(where, limit=2)
        while page.cursor is not None:
            found += (execution.id for execution in page.items)
            page = await scene.store.list_executions(where, page.cursor, limit=2)
        found += (execution.id for execution in page.items)
        assert found == sorted(made[1::2], reverse=True)

    @pytest.mark.parametrize("cursor", ["", "nonsense", "[1]", '{"$gt": ""}', "\0", "\ud800"])
    async def test_a_cursor_that_no_list_of_executions_gave_is_refused(
        self, scene: Scene, cursor: str
    ) -> None:
        with pytest.raises(InvalidInput, match="cursor"):
            await scene.store.list_executions(ExecutionFilter(), cursor)

    async def test_skips_that_touch_a_range_oldest_first(self, scene: Scene) -> None:
        job = await scene.job()
        for now in (minute(3), minute(6), minute(9)):
            await scene.fire(now + 30_000)
        ranges = [(skip.first, skip.last) for skip in await scene.skips(job)]
        assert ranges == [
            (minute(1), minute(2)),
            (minute(4), minute(5)),
            (minute(7), minute(8)),
        ]

        async def touching(since: int, until: int) -> list[int]:
            return [skip.first for skip in await scene.store.list_skips(job.id, since, until)]

        assert await touching(minute(2), minute(4)) == [minute(1)]
        assert await touching(minute(2), minute(4) + 1) == [minute(1), minute(4)]
        assert await touching(minute(2) + 1, minute(4)) == []
        assert await scene.store.list_skips("nobody", 0, minute(99)) == []

    async def test_queue_lengths_count_what_is_live_by_project_queue_and_state(
        self, scene: Scene
    ) -> None:
        assert await scene.store.queue_lengths(T0) == []
        job = await scene.job(trigger=OnDemand(), project="a")
        other = await scene.job(trigger=OnDemand(), project="b", queue="slow")
        await scene.run(*(a_request(job, T0 + n) for n in range(3)), a_request(job, minute(9)))
        await scene.run(a_request(other, T0 + 1), a_request(other, T0 + 500))
        await scene.store.promote(T0 + 1, 1_000, 100)
        able = frozenset({job.ability, other.ability})
        await scene.succeed(await scene.claim_one(T0 + 1, limit=1, abilities=able), T0 + 1)
        await scene.claim_one(T0 + 1, limit=1, abilities=able)
        expected = {
            ("a", "default", State.WAITING): (1, 0),
            ("a", "default", State.QUEUED): (1, 0),
            ("a", "default", State.RUNNING): (1, 1),
            ("b", "slow", State.QUEUED): (2, 1),
        }
        assert await _lengths(scene, T0 + 1) == expected
        # Without what the other project has queued, one project has all that is queued.
        ids = [each.id for each in await scene.executions(other)]
        await scene.store.request_cancel("b", ids, T0 + 1)
        del expected["b", "slow", State.QUEUED]
        assert await _lengths(scene, T0 + 1) == expected

    async def test_projects_that_share_a_queue_are_counted_one_by_one(self, scene: Scene) -> None:
        for project, count in (("a", 2), ("b", 3)):
            job = await scene.job(trigger=OnDemand(), project=project)
            await scene.run(*(a_request(job, T0 + n) for n in range(count)))
        await scene.store.promote(T0, 1_000, 100)
        assert await _lengths(scene, T0) == {
            ("a", "default", State.QUEUED): (2, 1),
            ("b", "default", State.QUEUED): (3, 1),
        }

    async def test_lanes_have_their_length_and_what_is_best_in_them(self, scene: Scene) -> None:
        assert await scene.store.lane_lengths(State.QUEUED, 10) == []
        job = await scene.job(trigger=OnDemand(), project="a")
        slow = await scene.job(trigger=OnDemand(), project="b", queue="slow")
        other = await scene.job(trigger=OnDemand(), project="a", target=Call("another"))
        await scene.run(*(a_request(job, T0 + n) for n in range(3)), a_request(job, minute(9)))
        await scene.run(a_request(slow, T0 + 1), a_request(slow, T0 + 500), a_request(other, T0))
        await scene.store.promote(T0 + 1, 1_000, 100)
        length = partial(LaneLength, state=State.QUEUED, job_version=1)
        first = partial(length, queue="default", project="a", run_at=T0)
        lanes = [
            first(ability=other.ability, job_id=other.id, count=1),
            first(ability=job.ability, job_id=job.id, count=2),
        ]
        last = length(
            queue="slow", ability=slow.ability, project="b", job_id=slow.id, count=2, run_at=T0 + 1
        )
        assert await scene.store.lane_lengths(State.QUEUED, 2) == [*lanes, last]
        assert await scene.store.lane_lengths(State.PARKED, 2) == []
        [late, early] = await scene.executions(slow)
        park = {State.QUEUED}, State.PARKED, "", T0 + 1
        await scene.store.settle([late.id, early.id], *park)
        parked = replace(last, state=State.PARKED)
        assert await scene.store.lane_lengths(State.QUEUED, 2) == lanes
        assert await scene.store.lane_lengths(State.PARKED, 2) == [parked]
        back = {State.PARKED}, State.WAITING, "", T0 + 1
        await scene.store.settle([late.id, early.id], *back)
        assert await scene.store.lane_lengths(State.PARKED, 2) == []

    async def test_jobs_are_counted_by_state(self, scene: Scene) -> None:
        await scene.job(name="one", project="a")
        two = await scene.job(name="two", project="b")
        gone = await scene.job(name="gone", project="b")
        await scene.store.change_jobs("b", [two.id], pause("me", "for now"), T0)
        await scene.store.change_jobs("b", [gone.id], delete(), T0)
        none = {JobState.ACTIVE: 0, JobState.PAUSED: 0, JobState.FINISHED: 0}
        assert await scene.store.count_jobs() == none | {JobState.ACTIVE: 1, JobState.PAUSED: 1}
        assert await scene.store.count_jobs("b") == none | {JobState.PAUSED: 1}
        assert await scene.store.count_jobs("nobody") == none

    async def test_stats_count_every_state(self, scene: Scene) -> None:
        empty = await scene.store.stats()
        assert empty == dict.fromkeys(State, 0)
        job = await scene.job(trigger=OnDemand(), project="a")
        await scene.run(*(a_request(job, T0 + n) for n in range(3)), a_request(job, minute(9)))
        able = frozenset({job.ability})
        await scene.succeed(await scene.claim_one(T0 + 1, limit=1, abilities=able), T0 + 1)
        expected = dict.fromkeys(State, 0) | {State.WAITING: 3, State.SUCCEEDED: 1}
        assert await scene.store.stats() == expected
        assert await scene.store.stats("a") == expected
        assert await scene.store.stats("b") == empty


async def _lengths(scene: Scene, now: int) -> dict[tuple[str, str, State], tuple[int, int]]:
    found = await scene.store.queue_lengths(now)
    assert len({(each.project, each.queue, each.state) for each in found}) == len(found)
    return {(each.project, each.queue, each.state): (each.count, each.due) for each in found}
