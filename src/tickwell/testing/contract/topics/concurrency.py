"""Concurrency: several handles at once, with exact counts and without waiting."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from tickwell.domain.change import edit, pause, resume
from tickwell.domain.execution import Claim, OutcomeKind, State
from tickwell.domain.gate import Concurrency as Limit
from tickwell.domain.gate import Overlap
from tickwell.domain.policy import SECOND, Misfire, OnMisfire
from tickwell.domain.target import Call
from tickwell.domain.trigger import Every, OnDemand
from tickwell.errors import JobExists, VersionConflict
from tickwell.ports.records import Record
from tickwell.testing.contract.builders import T0, a_job, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


async def _together(*calls: Coroutine[Any, Any, Any]) -> list[Any]:
    return await asyncio.gather(*calls)


class Concurrency(Topic):
    """What several processes may do to one store at the same time."""

    async def test_concurrent_claimers_take_every_execution_once(
        self, scene: Scene, other: Scene
    ) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(*(a_request(job, T0) for _ in range(120)))
        workers = [f"w{number}" for number in range(8)]
        for worker in workers:
            await scene.beat(worker)
        taken: list[Claim] = []
        while True:
            batches = await _together(
                *(
                    (scene, other)[n % 2].store.claim(scene.request(T0, worker, limit=7))
                    for n, worker in enumerate(workers)
                )
            )
            if not any(batches):
                break
            taken += [claim for batch in batches for claim in batch]
        assert Counter(claim.id for claim in taken) == Counter(ids)
        assert {claim.attempt for claim in taken} == {1}

    async def test_no_claimer_goes_short_of_a_crowd(self, scene: Scene, other: Scene) -> None:
        for name, due in ("soon", T0 - SECOND), ("late", T0):
            job = await scene.job(trigger=OnDemand(), target=Call(name))
            await scene.run(*(a_request(job, due) for _ in range(200)))
        both = {"limit": 50, "abilities": frozenset({"call:soon", "call:late"})}
        requests = [scene.request(T0, f"w{number}", **both) for number in range(8)]
        for request in requests:
            await scene.beat(request.worker)
        batches = await _together(
            *((scene, other)[n % 2].store.claim(request) for n, request in enumerate(requests))
        )
        assert [len(batch) for batch in batches] == [50] * 8

    async def test_planners_with_different_clocks_make_one_record_per_fire(
        self, scene: Scene, other: Scene
    ) -> None:
        everything = Misfire(policy=OnMisfire.ALL)
        jobs = [a_job(overlap=Overlap.ALLOW, misfire=everything) for _ in range(20)]
        await scene.add(*jobs)
        for number in range(1, 6):
            now = minute(number)
            fired = await _together(
                *(
                    (scene, other)[n % 2].fire(now + n * 700, horizon=n * 500, limit=7)
                    for n in range(6)
                )
            )
            # Where they met, one may have left a job to the other, and both to the next look.
            rest = await scene.fire(now)
            assert sum(one.executions for one in fired) + rest.executions == len(jobs)
        for job in jobs:
            assert await scene.fire_times(job) == [minute(number) for number in range(1, 6)]
            assert (await scene.cursor(job)).runs == 5
            assert await scene.skips(job) == []

    async def test_planners_with_different_policies_answer_every_slot_once(
        self, scene: Scene, other: Scene
    ) -> None:
        job = await scene.job(overlap=Overlap.ALLOW)
        late, later = minute(7) + 30 * SECOND, minute(9) + 30 * SECOND
        await _together(scene.fire(late), other.fire(later))
        await scene.fire(later)
        answered = await scene.fire_times(job)
        for skip in await scene.skips(job):
            answered += [minute(n) for n in range(20) if skip.first <= minute(n) <= skip.last]
            assert skip.count == (skip.last - skip.first) // 60_000 + 1
        assert sorted(answered) == [minute(number) for number in range(1, 10)]

    async def test_finish_and_loss_at_once_leave_one_end(self, scene: Scene, other: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(*(a_request(job, T0) for _ in range(20)))
        claims = await scene.claim(T0, "w1")
        beat = (await scene.beat("w1")).beat
        assert await other.store.declare_lost("w1", beat, T0)
        orphans = await other.store.orphans(T0, 100)
        results = await _together(
            *(
                (scene, other)[side].finish(claim, kind, T0 + side, delay=0)
                for claim in claims
                for side, kind in enumerate((OutcomeKind.SUCCEEDED, OutcomeKind.LOST))
            )
        )
        assert len(orphans) == 20
        assert sum(len(result.refused) for result in results) == 20
        for claim in claims:
            execution = await scene.execution(claim)
            assert len(execution.attempts) == 1
            assert execution.state in {State.SUCCEEDED, State.QUEUED}

    async def test_a_beat_and_a_loss_at_once_agree(self, scene: Scene, other: Scene) -> None:
        for number in range(10):
            worker = f"w{number}"
            seen = (await scene.beat(worker)).beat
            lost, pulse = await _together(
                other.store.declare_lost(worker, seen, T0), scene.beat(worker)
            )
            assert (await scene.beat(worker)).lost == lost
            assert pulse.lost <= lost

    async def test_a_limit_is_never_exceeded_and_never_idle(
        self, scene: Scene, other: Scene
    ) -> None:
        job = await scene.job(trigger=OnDemand(), concurrency=Limit("k", 3))
        ids = await scene.run(*(a_request(job, T0 + n) for n in range(30)), now=T0 + 30)
        workers = ["w0", "w1", "w2", "w3"]
        for worker in workers:
            await scene.beat(worker)
        done = 0
        while done < len(ids):
            batches = await _together(
                *(
                    (scene, other)[n % 2].store.claim(scene.request(T0 + 30, worker, limit=2))
                    for n, worker in enumerate(workers)
                )
            )
            claims = [claim for batch in batches for claim in batch]
            stats = await scene.store.stats()
            live = stats[State.RUNNING] + stats[State.QUEUED]
            # Exactly full as long as anybody waits.
            assert live == min(3, len(ids) - done)
            assert stats[State.RUNNING] == len(claims) == live
            await _together(
                *(
                    (scene, other)[n % 2].finish(claim, OutcomeKind.SUCCEEDED, T0 + 31)
                    for n, claim in enumerate(claims)
                )
            )
            done += len(claims)
        assert await scene.states() == [State.SUCCEEDED] * 30

    async def test_a_jobs_own_gate_lets_one_in(self, scene: Scene, other: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        polite = [a_request(job, T0 + n, overlap=Overlap.QUEUE_ALL) for n in range(12)]
        await _together(
            *((scene, other)[n % 2].run(one, now=T0 + 20) for n, one in enumerate(polite))
        )
        for left in range(12, 0, -1):
            stats = await scene.store.stats()
            assert (stats[State.QUEUED], stats[State.BLOCKED]) == (1, left - 1)
            both = await _together(scene.claim(T0 + 20, "w1"), other.claim(T0 + 20, "w2"))
            [claim] = both[0] + both[1]
            await scene.succeed(claim, T0 + 20)

    async def test_releasing_and_arriving_at_once_leave_no_gate_idle(
        self, scene: Scene, other: Scene
    ) -> None:
        # Two jobs, so that nothing but the gate keeps them apart.
        jobs = [await scene.job(trigger=OnDemand(), concurrency=Limit("k", 1)) for _ in range(2)]
        await scene.run(a_request(jobs[0], T0))
        for number in range(1, 15):
            claim = await scene.claim_one(T0 + number)
            await _together(
                scene.succeed(claim, T0 + number),
                other.run(a_request(jobs[number % 2], T0 + number), now=T0 + number),
            )
            stats = await scene.store.stats()
            assert (stats[State.QUEUED], stats[State.BLOCKED]) == (1, 0)

    async def test_promoters_at_once_do_not_skip_or_double(
        self, scene: Scene, other: Scene
    ) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(*(a_request(job, minute(1) + n) for n in range(40)))
        promoted = await _together(
            *((scene, other)[n % 2].promote(minute(2), limit=15) for n in range(4))
        )
        assert sum(one.queued for one in promoted) == 40
        assert await scene.states() == [State.QUEUED] * 40

    async def test_one_of_several_gets_the_name(self, scene: Scene, other: Scene) -> None:
        async def add(side: Scene) -> bool:
            try:
                await side.job("wanted")
            except JobExists:
                return False
            return True

        got = await _together(*(add((scene, other)[n % 2]) for n in range(6)))
        assert sum(got) == 1

    async def test_one_dedupe_key_makes_one_job(self, scene: Scene, other: Scene) -> None:
        added = await _together(
            *((scene, other)[n % 2].add(a_job(dedupe_key="once")) for n in range(6))
        )
        assert len({entries[0].job.id for entries in added}) == 1

    async def test_one_key_makes_one_run(self, scene: Scene, other: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await _together(
            *((scene, other)[n % 2].run(a_request(job, T0, key="once")) for n in range(6))
        )
        assert len({id for [id] in ids}) == 1
        assert len(await scene.executions()) == 1

    async def test_one_of_several_edits_of_a_version_wins(self, scene: Scene, other: Scene) -> None:
        job = await scene.job()

        async def edit_first(side: Scene, payload: int) -> bool:
            try:
                await side.change(job, edit(replace(job, payload=payload), 1), T0)
            except VersionConflict:
                return False
            return True

        won = await _together(*(edit_first((scene, other)[n % 2], n) for n in range(6)))
        assert sum(won) == 1
        [entry] = await scene.store.get_jobs("default", [job.id])
        assert (entry.job.version, entry.job.payload) == (2, won.index(True))

    async def test_edits_without_a_version_all_count(self, scene: Scene, other: Scene) -> None:
        job = await scene.job()
        await _together(
            *(
                (scene, other)[n % 2].change(job, edit(replace(job, payload=n)), T0)
                for n in range(6)
            )
        )
        [entry] = await scene.store.get_jobs("default", [job.id])
        assert entry.job.version == 7
        versions = await scene.store.list_records("job_version", "default", f"{job.id}/", T0)
        assert len(versions) == 6

    async def test_a_pause_and_a_fire_at_once_leave_nothing_to_run(
        self, scene: Scene, other: Scene
    ) -> None:
        for number in range(1, 11):
            now = minute(number)
            job = await scene.job(trigger=Every("1m"), now=now - 1000)
            await _together(
                scene.fire(now - 500, horizon=2000),
                other.change(job, pause("ann", "now"), now - 500),
            )
            assert await scene.fire_times(job, State.QUEUED, State.WAITING) == []
            await scene.change(job, resume(), now - 400)
            await scene.fire(now)
            assert await scene.fire_times(job, State.QUEUED) == [now]
            await scene.change(job, pause("ann", "done"), now)

    async def test_one_of_several_writers_of_a_record_wins(
        self, scene: Scene, other: Scene
    ) -> None:
        for version in range(3):
            wins = await _together(
                *(
                    (scene, other)[n % 2].store.put_record(
                        Record(kind="note", project="default", key="k", document=n), T0, version
                    )
                    for n in range(6)
                )
            )
            assert sum(wins) == 1
            found = await scene.store.get_record("note", "default", "k", T0)
            assert found is not None
            assert (found.version, found.document) == (version + 1, wins.index(True))

    async def test_what_one_handle_writes_the_other_sees(self, scene: Scene, other: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        [id] = await other.run(a_request(job, T0))
        claim = await scene.claim_one(T0)
        assert claim.id == id
        await other.store.request_cancel("default", [id], T0)
        assert (await scene.beat("w1")).owned[0].cancel
        await other.finish(claim, OutcomeKind.CANCELLED, T0)
        assert await scene.states() == [State.CANCELLED]
