"""Liveness: beats, loss by compare-and-set, and what lost workers leave behind."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.policy import LOST_BUDGET, Timeout
from tickwell.domain.trigger import OnDemand
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
            a_worker("w3", roles=("planner",), queues=(), abilities=(), slots=0),
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
        planner = a_worker("p1", roles=("planner",), queues=(), abilities=(), slots=0)
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
