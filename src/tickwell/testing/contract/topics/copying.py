"""Copying: everything as it is, read from a store and restored in an empty one."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tickwell.domain.execution import (
    Attempt,
    Execution,
    Kind,
    OutcomeKind,
    RangeSkip,
    Reason,
    State,
)
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job
from tickwell.domain.policy import MINUTE, Retention
from tickwell.domain.step import Step
from tickwell.domain.unique import Unique
from tickwell.ports.records import Record
from tickwell.ports.transfer import KeptExecution
from tickwell.testing.contract.builders import T0, a_request, fresh_id
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


def kept(job: Job, state: State = State.SUCCEEDED, at: int = T0, **fields: Any) -> KeptExecution:
    """An execution of the job, as another store hands it over."""
    kept_fields = {name: fields.pop(name) for name in KeptExecution.__slots__ if name in fields}
    values: dict[str, Any] = {
        "id": fresh_id(at),
        "project": job.project,
        "job_id": job.id,
        "job_version": job.version,
        "kind": Kind.REQUEST,
        "state": state,
        "fire_time": at,
        "run_at": at,
        "queue": job.queue,
        "ability": job.ability,
        "created_at": at,
    }
    return KeptExecution(
        execution=Execution(**(values | fields)), **({"overlap": Overlap.ALLOW} | kept_fields)
    )


def an_attempt(number: int, outcome: OutcomeKind, at: int, **fields: Any) -> Attempt:
    """An attempt of worker w1 that took a second."""
    return Attempt(
        number=number,
        outcome=outcome,
        worker="w1",
        started_at=at,
        ended_at=at + 1000,
        **fields,
    )


def succeeded(job: Job, at: int = T0, **fields: Any) -> KeptExecution:
    """One that failed once and then succeeded."""
    attempts = [
        an_attempt(1, OutcomeKind.FAILED, at, error="è broken"),
        an_attempt(2, OutcomeKind.SUCCEEDED, at + 5000, result={"n": [1, None]}),
    ]
    return kept(
        job,
        at=at,
        attempt=2,
        charged=2,
        worker="w1",
        started_at=at + 5000,
        ended_at=at + 6000,
        result={"n": [1, None]},
        attempts=attempts,
        **fields,
    )


def waiting(job: Job, at: int = T0, **fields: Any) -> KeptExecution:
    """One that waits for its instant."""
    return kept(job, State.WAITING, at, rank=at, **fields)


class Copying(Topic):
    """`read_executions`, `restore_executions`, `restore_skips`, and the same for records."""

    async def test_what_has_ended_is_restored_whole(self, scene: Scene) -> None:
        job = await scene.job()
        one = succeeded(job, payload={"a": "è"}, key="k1", revived_from=fresh_id())
        await scene.store.restore_executions([one])
        assert await scene.store.read_executions("", 10) == [one]
        found = await scene.execution(one.execution.id)
        assert found == one.execution
        [listed] = await scene.executions(job)
        assert listed == replace(one.execution, attempts=[])

    async def test_each_state_is_handed_over_as_it_was_restored(self, scene: Scene) -> None:
        job = await scene.job()
        running = kept(
            job,
            State.RUNNING,
            T0 + 10,
            rank=T0,
            attempt=1,
            charged=1,
            worker="w9",
            claim_id="c1",
            deadline=T0 + 5 * MINUTE,
            started_at=T0 + 10,
            overlap=Overlap.QUEUE_ALL,
            holds_job=True,
        )
        given = [
            succeeded(job, T0 + 1),
            kept(
                job,
                State.DEAD,
                T0 + 2,
                attempt=1,
                charged=1,
                worker="w1",
                started_at=T0 + 2,
                ended_at=T0 + 1002,
                error="no",
                reason=Reason.NOT_RETRYABLE,
                attempts=[an_attempt(1, OutcomeKind.FAILED, T0 + 2, error="no")],
            ),
            kept(job, State.CANCELLED, T0 + 3, ended_at=T0 + 4, reason="by ann"),
            kept(job, State.SKIPPED, T0 + 4, ended_at=T0 + 5, reason=Reason.OVERLAP),
            waiting(job, T0 + 5, expires_at=T0 + MINUTE, gate="g", limit=2),
            running,
            kept(job, State.BLOCKED, T0 + 20, rank=T0 + 20, overlap=Overlap.QUEUE_ALL),
        ]
        await scene.store.restore_executions(given)
        assert await scene.store.read_executions("", 100) == given

    async def test_pages_go_on_after_an_id(self, scene: Scene) -> None:
        job, other = await scene.job(), await scene.job(project="other")
        given = [waiting(job if n % 2 else other, T0 + n) for n in range(7)]
        await scene.store.restore_executions(given[::-1])
        first = await scene.store.read_executions("", 4)
        rest = await scene.store.read_executions(first[-1].execution.id, 4)
        assert first + rest == given
        assert await scene.store.read_executions(given[-1].execution.id, 4) == []

    async def test_restored_twice_it_counts_once(self, scene: Scene) -> None:
        job = await scene.job()
        first, second = succeeded(job, T0), succeeded(job, T0 + 1)
        await scene.store.restore_executions([first])
        await scene.store.restore_executions([first, second])
        assert await scene.store.read_executions("", 10) == [first, second]
        assert (await scene.store.stats())[State.SUCCEEDED] == 2
        assert (await scene.store.stats(job.project))[State.SUCCEEDED] == 2

    async def test_what_is_there_is_left_alone(self, scene: Scene) -> None:
        job = await scene.job()
        one = succeeded(job)
        await scene.store.restore_executions([one])
        again = replace(one, execution=replace(one.execution, state=State.DEAD, error="other"))
        await scene.store.restore_executions([again])
        assert await scene.store.read_executions("", 10) == [one]

    async def test_what_waited_is_promoted_and_runs_with_the_next_attempt(
        self, scene: Scene
    ) -> None:
        job = await scene.job()
        earlier = [an_attempt(1, OutcomeKind.FAILED, T0 - 5000, error="no")]
        one = waiting(job, attempt=1, charged=1, payload=[7], attempts=earlier)
        await scene.store.restore_executions([one])
        assert (await scene.promote(T0)).queued == 1
        claim = await scene.claim_one(T0)
        assert (claim.id, claim.attempt, claim.charged) == (one.execution.id, 2, 2)
        assert claim.payload == [7]
        await scene.succeed(claim, T0 + 1)
        found = await scene.execution(claim)
        assert [each.number for each in found.attempts] == [1, 2]

    async def test_what_is_queued_or_parked_is_handed_over_as_waiting(self, scene: Scene) -> None:
        job = await scene.job()
        [first] = await scene.run(a_request(job, T0))
        [second] = await scene.run(a_request(job, T0 + 1), now=T0 + 1)
        await scene.settle([second], State.PARKED, T0 + 2)
        found = await scene.store.read_executions("", 10)
        assert [each.execution.id for each in found] == [first, second]
        assert {each.execution.state for each in found} == {State.WAITING}
        assert {each.execution.reason for each in found} == {None}

    async def test_the_jobs_own_gate_is_held_as_before(self, scene: Scene) -> None:
        every, later = Overlap.QUEUE_ALL, T0 + MINUTE
        job = await scene.job(overlap=every)
        # As one that is tried again: what comes meanwhile waits for it.
        holder = waiting(job, later, overlap=every, holds_job=True)
        behind = kept(job, State.BLOCKED, T0 + 1, rank=T0 + 1, overlap=every)
        newer = waiting(job, T0 + 2, overlap=every)
        await scene.store.restore_executions([holder])
        await scene.store.restore_executions([behind, newer])
        await scene.promote(T0 + 2)
        assert await scene.claim(T0 + 2) == []
        await scene.promote(later)
        for expected in (holder, behind, newer):
            [claim] = await scene.claim(later)
            assert claim.id == expected.execution.id
            await scene.succeed(claim, later + 1)

    async def test_what_was_running_is_an_orphan(self, scene: Scene) -> None:
        job = await scene.job()
        one = kept(
            job,
            State.RUNNING,
            rank=T0,
            attempt=1,
            charged=1,
            worker="gone",
            claim_id="c1",
            deadline=T0 + 60 * MINUTE,
            started_at=T0,
        )
        await scene.store.restore_executions([one])
        [orphan] = await scene.store.orphans(T0 + 1, 10)
        assert (orphan.id, orphan.attempt, orphan.worker) == (one.execution.id, 1, "gone")
        await scene.finish(orphan, OutcomeKind.LOST, T0 + 1, started=False)
        assert (await scene.execution(orphan)).state is not State.RUNNING

    async def test_a_key_of_a_request_is_taken(self, scene: Scene) -> None:
        job = await scene.job()
        one = succeeded(job, key="once")
        await scene.store.restore_executions([one])
        [id] = await scene.run(a_request(job, T0 + 1, key="once"))
        assert id == one.execution.id

    async def test_a_same_run_is_found(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.store.restore_executions([waiting(job, unique="u1")])
        new = a_request(job, T0 + 1)
        new.unique = Unique(name="u1", pending=True, running=True, within=0)
        [id] = await scene.run(new, now=T0 + 1)
        assert id != new.id
        [found] = await scene.store.read_executions("", 10)
        assert found.unique == "u1"

    async def test_steps_are_restored(self, scene: Scene) -> None:
        job = await scene.job()
        one = waiting(job, attempt=1)
        id = one.execution.id
        one.steps = (
            Step(execution=id, attempt=1, name="read", value={"x": 1}, at=T0),
            Step(execution=id, attempt=1, name="", value="half", at=T0 + 1, is_final=False),
        )
        await scene.store.restore_executions([one])
        assert await scene.store.list_steps(job.project, id) == [*one.steps]
        assert (await scene.store.read_executions("", 10))[0].steps == one.steps

    async def test_what_was_restored_past_its_retention_is_pruned(self, scene: Scene) -> None:
        job = await scene.job(retention=Retention(age="1d", dead="1d"))
        await scene.store.restore_executions([succeeded(job), waiting(job, T0 + 1)])
        assert await scene.store.prune(T0 + MINUTE, 10) == 0
        assert await scene.store.prune(T0 + 3 * 1440 * MINUTE, 10) == 1
        assert [each.state for each in await scene.executions(job)] == [State.WAITING]

    async def test_range_skips_are_restored_once(self, scene: Scene) -> None:
        job = await scene.job()
        skips = [
            RangeSkip(job_id=job.id, first=T0 + n, last=T0 + n + 5, count=2, reason=Reason.PAUSED)
            for n in (0, 0, 10)
        ]
        await scene.store.restore_skips(job, skips)
        await scene.store.restore_skips(job, skips)
        assert await scene.skips(job) == skips
        assert await scene.store.prune(T0 + MINUTE, 10) == 0

    async def test_records_keep_their_versions(self, scene: Scene) -> None:
        given = [
            Record(kind=kind, project=project, key=key, document={"n": key}, version=version)
            for kind, project, key, version in (
                ("a", "p", "1", 3),
                ("a", "p", "2", 1),
                ("a", "q", "0", 7),
                ("b", "", "0", 2),
            )
        ]
        given[1].expires_at = T0 + 10
        await scene.store.put_record(replace(given[0], document="before"), T0)
        await scene.store.restore_records(given[::-1])
        await scene.store.restore_records(given)
        assert await scene.store.read_records(("", "", ""), T0, 10) == given
        assert await scene.store.read_records(("a", "p", "1"), T0, 2) == given[1:3]
        assert await scene.store.read_records(("", "", ""), T0 + 10, 10) == [given[0], *given[2:]]
        assert not await scene.store.put_record(given[2], T0, 6)
        assert await scene.store.put_record(given[2], T0, 7)
