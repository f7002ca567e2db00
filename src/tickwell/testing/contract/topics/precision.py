"""Precision and odd data: what people and handlers really write."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tickwell.clock import NEVER
from tickwell.domain.change import pause
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.gate import Concurrency
from tickwell.domain.trigger import Once, OnDemand
from tickwell.ports.records import JobFilter
from tickwell.testing.contract.builders import T0, a_job, a_request, a_worker, minute
from tickwell.testing.contract.scene import Scene, report
from tickwell.testing.contract.topic import Topic

#: Longer than any column that somebody forgot to widen.
LARGE = "è" * 100_000
NAMES = ["grüße", "日本語", "🚀" * 20, "a'b\"c\\d;--", "e\u0301", "x" * 255, "%s {} $1 ?"]
JSON: list[Any] = [
    {"a": [1, 2.5, None, True, {"b": []}]},
    ["è", "🚀", "\u2028", "\\u0000", '"', "'"],
    2**53,
    -(2**53),
    1.7976931348623157e308,
    5e-324,
    "",
    0,
    False,
    [],
    {},
    {"": 0, "0": 1, "key with space": 2, "null": None},
]


class Precision(Topic):
    """Values come back exactly, or not at all."""

    @pytest.mark.parametrize("name", NAMES)
    async def test_names_of_any_language(self, scene: Scene, name: str) -> None:
        job = await scene.job(
            name,
            project=name,
            queue=name,
            app=name,
            tags=(name,),
            dedupe_key=name,
            description=name,
            trigger=OnDemand(),
            concurrency=Concurrency(name),
        )
        [found] = await scene.store.get_jobs(name, [name])
        assert found.job == job
        where = JobFilter(project=name, queue=name, app=name, tag=name, search=name)
        assert len((await scene.store.list_jobs(where)).items) == 1
        [id] = await scene.run(a_request(job, T0, key=name))
        assert await scene.run(a_request(job, T0, key=name)) == [id]
        able = frozenset({job.ability})
        assert (await scene.claim_one(T0, queues=(name,), abilities=able)).id == id
        assert (await scene.execution(id, name)).key == name

    @pytest.mark.parametrize("value", JSON)
    async def test_payloads_and_results_come_back_exactly(self, scene: Scene, value: Any) -> None:
        job = await scene.job(trigger=OnDemand(), payload=value)
        await scene.run(a_request(job, T0), a_request(job, T0 + 1, payload=value), now=T0 + 1)
        claims = await scene.claim(T0 + 1)
        assert [claim.payload for claim in claims] == [value, value]
        assert {type(claim.payload) for claim in claims} == {type(value)}
        await scene.finish(claims, OutcomeKind.SUCCEEDED, T0 + 1, result=value)
        for execution in await scene.executions():
            assert execution.result == value
            assert type(execution.result) is type(value)

    async def test_large_payloads_results_and_errors(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), payload={"text": LARGE}, description=LARGE)
        await scene.run(a_request(job, T0), a_request(job, T0, payload=[LARGE]))
        claims = await scene.claim(T0)
        assert {type(claim.payload) for claim in claims} == {dict, list}
        await scene.finish(
            claims, OutcomeKind.FAILED, T0, retry=False, error=LARGE, result={"text": LARGE}
        )
        for claim in claims:
            execution = await scene.execution(claim)
            assert (execution.error, execution.result) == (LARGE, {"text": LARGE})
            assert execution.attempts[0].error == LARGE

    @pytest.mark.parametrize("bad", ["a\0b", "a\ud800b", "\udfff", "\0"])
    async def test_a_text_that_cannot_be_stored_does_not_fail_its_neighbours(
        self, scene: Scene, bad: str
    ) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(*(a_request(job, T0 + n) for n in range(3)), now=T0 + 3)
        claims = await scene.claim(T0 + 3)
        errors = ["before", f"{bad} and the rest", "after"]
        reports = [
            report(claim, OutcomeKind.FAILED, T0 + 4, error=error, result={error: [error]})
            for claim, error in zip(claims, errors, strict=True)
        ]
        finished = await scene.store.finish(reports, T0 + 4)
        assert finished.refused == []
        kept = [(await scene.execution(claim)).error for claim in claims]
        assert (kept[0], kept[2]) == ("before", "after")
        # What cannot be stored is replaced; what can be is there.
        assert kept[1] is not None
        assert kept[1].endswith(" and the rest")
        assert {(await scene.execution(claim)).state for claim in claims} == {State.WAITING}
        assert (await scene.store.finish(reports, T0 + 5)).refused == []

    @pytest.mark.parametrize("bad", ["a\0b", "a\ud800b"])
    async def test_such_texts_are_survived_wherever_people_write(
        self, scene: Scene, bad: str
    ) -> None:
        # Half of a character is refused in a definition; in what others write it is replaced.
        text = bad.encode(errors="replace").decode()
        job = await scene.job(
            trigger=OnDemand(), payload={bad: [bad]}, description=text, tags=(text,)
        )
        await scene.run(a_request(job, T0, payload={bad: bad}), a_request(job, T0))
        claims = await scene.claim(T0)
        assert len(claims) == 2
        await scene.finish(claims, OutcomeKind.CANCELLED, T0, error=bad)
        waiting = await scene.run(a_request(job, minute(1)))
        await scene.store.settle(waiting, {State.WAITING}, State.CANCELLED, bad, T0)
        await scene.change(job, pause(bad, bad), T0)
        await scene.store.beat(a_worker("w2", host=bad), T0)
        assert len(await scene.executions(job)) == 3
        assert len(await scene.store.list_workers()) == 2

    @pytest.mark.parametrize("at", [0, 1, 1_999_999_999_999, 4_102_444_800_001, NEVER - 60_000])
    async def test_instants_from_1970_to_9999_are_exact(self, scene: Scene, at: int) -> None:
        job = await scene.job(trigger=OnDemand(), created_at=at, saved_at=at, now=at)
        [id] = await scene.run(a_request(job, at), now=at)
        claim = await scene.claim_one(at)
        assert (claim.fire_time, claim.run_at) == (at, at)
        await scene.succeed(claim, at + 1)
        execution = await scene.execution(id)
        assert (execution.created_at, execution.started_at, execution.ended_at) == (at, at, at + 1)
        [found] = await scene.store.get_jobs("default", [job.id])
        assert (found.job.created_at, found.job.saved_at) == (at, at)

    async def test_a_fire_at_the_end_of_time(self, scene: Scene) -> None:
        last = datetime(9999, 12, 31, 23, 59, tzinfo=UTC)
        job = await scene.job(trigger=Once(last))
        fire_time = (await scene.cursor(job)).next_fire_time
        assert fire_time == NEVER - 59_999
        await scene.fire(fire_time)
        assert await scene.fire_times(job) == [fire_time]

    async def test_many_at_once(self, scene: Scene) -> None:
        jobs = [a_job() for _ in range(500)]
        await scene.add(*jobs)
        assert (await scene.fire(minute(1))).executions == 500
        claims = await scene.claim(minute(1))
        assert len(claims) == 500
        assert (await scene.succeed(claims, minute(1))).refused == []
        assert (await scene.store.stats())[State.SUCCEEDED] == 500
