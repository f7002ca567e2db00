"""Pruning: what is past its retention goes, and nothing else."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from dataclasses import replace

from tickwell.domain.change import delete, edit, pause, resume
from tickwell.domain.execution import Reason, State
from tickwell.domain.job import Job
from tickwell.domain.policy import DAY, HOUR, MINUTE, Retention
from tickwell.domain.trigger import OnDemand
from tickwell.ports.records import Record
from tickwell.testing.contract.builders import T0, a_request
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.snapshot import snapshot
from tickwell.testing.contract.topic import Topic


class Pruning(Topic):
    """`prune`."""

    async def _ended(self, scene: Scene, job: Job, at: int, *, dead: bool = False) -> str:
        [id] = await scene.run(a_request(job, at), now=at)
        claim = await scene.claim_one(at)
        if dead:
            await scene.fail(claim, at, retry=False)
        else:
            await scene.succeed(claim, at)
        return id

    async def test_ended_executions_go_by_age(self, scene: Scene) -> None:
        retention = Retention(age="1h", dead="2h")
        job = await scene.job(trigger=OnDemand(), retention=retention)
        old = await self._ended(scene, job, T0)
        dead = await self._ended(scene, job, T0, dead=True)
        new = await self._ended(scene, job, T0 + 1)
        assert await scene.store.prune(T0 + HOUR - 1, 100) == 0
        assert await scene.store.prune(T0 + HOUR, 100) == 1
        assert await scene.store.get_execution("default", old) is None
        assert {one.id for one in await scene.executions()} == {dead, new}
        assert await scene.store.prune(T0 + 2 * HOUR, 100) == 2
        assert await scene.executions() == []

    async def test_the_newest_are_kept_by_count_the_dead_apart(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), retention=Retention(count=2))
        dead = await self._ended(scene, job, T0, dead=True)
        ended = [await self._ended(scene, job, T0 + 1 + n) for n in range(4)]
        assert await scene.store.prune(T0 + 9, 100) == 2
        assert {one.id for one in await scene.executions()} == {dead, *ended[2:]}

    async def test_many_dead_letters_put_off_what_goes_by_count_and_keep_nothing(
        self, scene: Scene
    ) -> None:
        job, many = await scene.job(trigger=OnDemand(), retention=Retention(count=1)), 1100
        await scene.run(*(a_request(job, T0) for _ in range(many)))
        await scene.fail(await scene.claim(T0, limit=many), T0, retry=False)
        for n in range(3):
            await self._ended(scene, job, T0 + n)
        assert await scene.store.prune(T0 + 9, 100) == 2
        last = await self._ended(scene, job, T0 + 9)
        pruned = [await scene.store.prune(T0 + at, 100) for at in (10, MINUTE)]
        assert sum(pruned) == 1
        stats = await scene.store.stats("default")
        assert (stats[State.DEAD], stats[State.SUCCEEDED]) == (many, 1)
        assert (await scene.execution(last)).state is State.SUCCEEDED

    async def test_the_count_is_per_job(self, scene: Scene) -> None:
        for _ in range(2):
            job = await scene.job(trigger=OnDemand(), retention=Retention(count=1))
            await self._ended(scene, job, T0)
        assert await scene.store.prune(T0 + 9, 100) == 0

    async def test_what_is_live_stays_however_old(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), retention=Retention(age="0s", count=0))
        await scene.run(a_request(job, T0), a_request(job, T0))
        await scene.claim_one(T0, limit=1)
        assert await scene.store.prune(T0 + 1000 * DAY, 100) == 0
        assert sorted(await scene.states()) == [State.QUEUED, State.RUNNING]

    async def test_no_more_than_the_limit_at_once(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), retention=Retention(age="0s"))
        for n in range(5):
            await self._ended(scene, job, T0 + n)
        counts = [await scene.store.prune(T0 + 9, 2) for _ in range(4)]
        assert counts == [2, 2, 1, 0]

    async def test_expired_records_go(self, scene: Scene) -> None:
        for key, expires_at in (("a", T0), ("b", T0 + 1), ("c", None)):
            note = Record(
                kind="note", project="default", key=key, document=1, expires_at=expires_at
            )
            await scene.store.put_record(note, T0 - 1)
        assert await scene.store.prune(T0, 100) == 1
        assert await scene.store.prune(T0 + 1, 100) == 1
        assert await scene.store.prune(T0 + DAY, 100) == 0

    async def test_a_deleted_job_goes_with_the_last_of_its_history(self, scene: Scene) -> None:
        job = await scene.job(retention=Retention(age="1h"))
        await self._ended(scene, job, T0)
        await scene.change(job, pause("ann", "wait"), T0)
        await scene.change(job, resume(), T0 + HOUR // 2)
        await scene.change(job, edit(replace(job, payload=2)), T0 + HOUR // 2)
        assert len(await scene.skips(job)) == 1
        kept = await scene.job("kept", trigger=OnDemand())
        await scene.change(kept, edit(kept), T0)
        await scene.change(job, delete(), T0)
        assert await scene.store.prune(T0, 100) == 0
        assert len(await scene.store.get_jobs("default", [job.id])) == 1
        assert await scene.store.prune(T0 + HOUR, 100) == 2
        assert await scene.store.get_jobs("default", [job.id]) == []
        assert await scene.skips(job) == []
        left = await snapshot(scene.store, T0)
        assert list(left["jobs"]) == [kept.id]
        assert [record["key"] for record in left["records"]] == [f"{kept.id}/00000001"]

    async def test_range_skips_go_by_age(self, scene: Scene) -> None:
        job = await scene.job(retention=Retention(age="1h"))
        await scene.change(job, pause("ann", "wait"), T0)
        await scene.change(job, resume(), T0 + 10 * MINUTE)
        await scene.fire(T0 + 10 * MINUTE)
        [skip] = await scene.skips(job)
        assert (skip.last, skip.count) == (T0 + 10 * MINUTE, 10)
        assert await scene.store.prune(skip.last + HOUR, 100) == 0
        assert await scene.store.prune(skip.last + HOUR + 1, 100) == 1
        assert await scene.skips(job) == []

    async def test_a_new_retention_holds_for_range_skips_too(self, scene: Scene) -> None:
        job = await scene.job(retention=Retention(age="1h"))
        await scene.change(job, pause("ann", "wait"), T0)
        await scene.change(job, resume(), T0 + 10 * MINUTE)
        await scene.fire(T0 + 10 * MINUTE)
        now = T0 + 20 * MINUTE
        await scene.change(job, edit(replace(job, retention=Retention(age="1m"))), now)
        assert await scene.store.prune(now, 100) == 1
        # What the edit itself answered is not that old.
        assert [skip.reason for skip in await scene.skips(job)] == [Reason.MISFIRE]

    async def test_the_newest_definitions_are_kept_and_those_of_the_history(
        self, scene: Scene
    ) -> None:
        job = await scene.job(trigger=OnDemand(), retention=Retention(age="1h"))
        for n in range(1, 105):
            await scene.change(job, edit(replace(job, payload=n)), T0 + n)
        # Version 2 was saved at T0 + 1, which is when version 1 was replaced.
        assert await scene.store.prune(T0 + 1 + HOUR, 100) == 0
        assert await scene.store.prune(T0 + 2 + HOUR, 100) == 1
        assert await scene.store.prune(T0 + DAY, 2) == 2
        assert await scene.store.prune(T0 + DAY, 2) == 1
        assert await scene.store.prune(T0 + DAY, 2) == 0
        left = await scene.store.list_records("job_version", "default", f"{job.id}/", T0)
        assert [record.key for record in left] == [f"{job.id}/{v:08}" for v in range(5, 105)]

    async def test_a_job_that_is_there_stays_without_history(self, scene: Scene) -> None:
        await scene.job(trigger=OnDemand())
        assert await scene.store.prune(T0 + 1000 * DAY, 100) == 0

    async def test_lost_workers_go_after_a_day_unless_they_hold_something(
        self, scene: Scene
    ) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        await scene.claim_one(T0, "holder")
        for worker in ("alive", "lost", "holder"):
            beat = (await scene.beat(worker)).beat
            if worker != "alive":
                await scene.store.declare_lost(worker, beat, T0)
        assert await scene.store.prune(T0 + DAY - 1, 100) == 0
        assert await scene.store.prune(T0 + DAY, 100) == 1
        left = [one.worker.id for one in await scene.store.list_workers()]
        assert left == ["alive", "holder"]

    async def test_a_key_is_free_again_when_its_run_is_gone(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), retention=Retention(age="0s"))
        [first] = await scene.run(a_request(job, T0, key="k"))
        await scene.succeed(await scene.claim_one(T0), T0)
        await scene.store.prune(T0, 100)
        [second] = await scene.run(a_request(job, T0 + 1, key="k"), now=T0 + 1)
        assert second != first
