"""Answers: what an execution waits for is given from outside."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

import asyncio

import pytest

from tickwell.domain.change import pause, resume
from tickwell.domain.execution import Claim, Execution, OutcomeKind, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Job
from tickwell.domain.policy import DAY, SECOND, Retry
from tickwell.domain.trigger import OnDemand
from tickwell.testing.contract.builders import T0, a_request, fresh_id
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic
from tickwell.testing.contract.topics.steps import a_step

WAIT = "wait:approval"


async def asking(scene: Scene, job: Job, now: int = T0, overlap: Overlap = Overlap.ALLOW) -> Claim:
    """An attempt under way that has asked for an approval."""
    await scene.run(a_request(job, now, overlap=overlap), now=now)
    claim = await scene.claim_one(now)
    await ask(scene, claim, now)
    return claim


async def ask(scene: Scene, claim: Claim, now: int = T0) -> None:
    """Ask, or ask again."""
    asked = a_step(claim, WAIT, {"expires_at": T0 + DAY}, now, is_final=False)
    assert await scene.store.write_steps([asked]) == []


async def wait(scene: Scene, claim: Claim, now: int = T0) -> Execution:
    """End the attempt, which waits for the answer for a day."""
    kind = OutcomeKind.SNOOZED
    finished = await scene.finish(claim, kind, now, delay=DAY, awaits=(WAIT,))
    assert finished.refused == []
    return await scene.execution(claim)


class Answers(Topic):
    """`answer_step`, and what `finish` makes of a report that awaits an answer."""

    async def _answer(self, scene: Scene, id: str, now: int, value: object = "yes") -> bool:
        return await scene.store.answer_step("default", id, WAIT, value, now)

    async def test_an_answer_resumes_what_waits_for_it(self, scene: Scene, other: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), retry=Retry(max_attempts=1))
        claim = await asking(scene, job)
        waiting = await wait(scene, claim, T0 + 5)
        assert (waiting.state, waiting.run_at) == (State.WAITING, T0 + 5 + DAY)
        assert (waiting.charged, waiting.returned) == (0, 0)
        assert await scene.claim(T0 + SECOND) == []
        assert await self._answer(other, claim.id, T0 + SECOND, {"by": "ada"})
        resumed = await scene.execution(claim)
        assert (resumed.state, resumed.run_at) == (State.QUEUED, T0 + SECOND)
        again = await scene.claim_one(T0 + SECOND)
        assert (again.id, again.attempt, again.charged) == (claim.id, 2, 1)
        [step] = await scene.store.list_steps("default", claim.id)
        assert (step.value, step.at, step.is_final) == ({"by": "ada"}, T0 + SECOND, True)
        assert (step.name, step.attempt) == (WAIT, 1)

    async def test_an_answer_is_given_once(self, scene: Scene, other: Scene) -> None:
        claim = await asking(scene, await scene.job(trigger=OnDemand()))
        await wait(scene, claim)
        answers = await asyncio.gather(
            *(self._answer(scene, claim.id, T0 + n, f"one {n}") for n in range(4)),
            *(self._answer(other, claim.id, T0 + n, f"two {n}") for n in range(4)),
        )
        assert sorted(answers) == [False] * 7 + [True]
        index = answers.index(True)
        [step] = await scene.store.list_steps("default", claim.id)
        assert step.value == f"{('one', 'two')[index // 4]} {index % 4}"

    async def test_what_was_not_asked_is_not_answered(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        claim = await asking(scene, job)
        await scene.store.write_steps([a_step(claim, "charge", 1)])
        store = scene.store
        for project, id, name in (
            ("other", claim.id, WAIT),
            ("default", fresh_id(), WAIT),
            ("default", "no id", WAIT),
            ("default", claim.id, "wait:other"),
            ("default", claim.id, "charge"),
        ):
            assert not await store.answer_step(project, id, name, "yes", T0 + 1)
        await scene.succeed(claim, T0 + 1)
        assert not await self._answer(scene, claim.id, T0 + 2)
        names = {step.name: step.is_final for step in await store.list_steps("default", claim.id)}
        assert names == {"charge": True, WAIT: False}

    async def test_an_answer_that_comes_while_it_runs_is_not_slept_over(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), priority=7)
        claim = await asking(scene, job)
        assert await self._answer(scene, claim.id, T0 + 3)
        assert (await scene.execution(claim)).state is State.RUNNING
        resumed = await wait(scene, claim, T0 + 5)
        assert (resumed.state, resumed.run_at) == (State.QUEUED, T0 + 5)
        assert (await scene.claim_one(T0 + 5)).run_at == T0 + 5

    @pytest.mark.parametrize("key", [None, "one at a time"])
    async def test_no_answer_is_lost_between_the_two(
        self, scene: Scene, other: Scene, key: str | None
    ) -> None:
        limit = None if key is None else Concurrency(key, 20)
        job = await scene.job(trigger=OnDemand(), concurrency=limit)
        for n in range(12):
            claim = await asking(scene, job, T0 + n)
            _, is_answered = await asyncio.gather(
                wait(scene, claim, T0 + n), self._answer(other, claim.id, T0 + n)
            )
            assert is_answered
            resumed = await scene.execution(claim)
            assert (resumed.state, resumed.run_at) == (State.QUEUED, T0 + n)
            await scene.succeed(await scene.claim_one(T0 + n), T0 + n)

    async def test_a_retry_goes_on_waiting(self, scene: Scene) -> None:
        claim = await asking(scene, await scene.job(trigger=OnDemand()))
        await wait(scene, claim)
        await scene.promote(T0 + DAY)
        again = await scene.claim_one(T0 + DAY)
        assert again.attempt == 2
        await ask(scene, again, T0 + DAY)
        waiting = await wait(scene, again, T0 + DAY)
        assert waiting.run_at == T0 + 2 * DAY
        assert await self._answer(scene, claim.id, T0 + DAY + 1)
        assert (await scene.claim_one(T0 + DAY + 1)).attempt == 3

    async def test_what_waits_for_something_else_is_not_resumed(self, scene: Scene) -> None:
        claim = await asking(scene, await scene.job(trigger=OnDemand()))
        await scene.fail(claim, T0, delay=0)
        again = await scene.claim_one(T0)
        await scene.fail(again, T0, delay=SECOND)
        assert await self._answer(scene, claim.id, T0 + 1)
        waiting = await scene.execution(claim)
        assert (waiting.state, waiting.run_at) == (State.WAITING, T0 + SECOND)

    async def test_the_retry_of_an_attempt_that_asked_keeps_its_delay(self, scene: Scene) -> None:
        claim = await asking(scene, await scene.job(trigger=OnDemand()))
        await scene.fail(claim, T0, delay=SECOND)
        assert await self._answer(scene, claim.id, T0 + 1)
        waiting = await scene.execution(claim)
        assert (waiting.state, waiting.run_at) == (State.WAITING, T0 + SECOND)

    async def test_what_is_held_by_a_pause_stays_held(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        claim = await asking(scene, job)
        await wait(scene, claim)
        await scene.change(job, pause("ada", "moving"), T0 + 1)
        assert await self._answer(scene, claim.id, T0 + 2)
        assert await scene.claim(T0 + 3) == []
        await scene.change(job, resume(), T0 + 4)
        await scene.promote(T0 + 4)
        assert (await scene.claim_one(T0 + 4)).id == claim.id

    async def test_what_waits_holds_no_permit_of_its_key(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), concurrency=Concurrency("one at a time"))
        claim = await asking(scene, job)
        [child] = await scene.run(a_request(job, T0), now=T0)
        assert (await scene.execution(child)).state is State.BLOCKED
        await wait(scene, claim)
        busy = await scene.claim_one(T0)
        assert busy.id == child
        assert await self._answer(scene, claim.id, T0 + 1)
        assert (await scene.execution(claim)).state is State.BLOCKED
        await scene.succeed(busy, T0 + 2)
        assert (await scene.claim_one(T0 + 2)).id == claim.id

    async def test_it_keeps_the_place_in_its_job(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), overlap=Overlap.QUEUE_ALL)
        claim = await asking(scene, job, overlap=Overlap.QUEUE_ALL)
        await wait(scene, claim)
        [later] = await scene.run(a_request(job, T0 + 1, overlap=Overlap.QUEUE_ALL), now=T0 + 1)
        assert (await scene.execution(later)).state is State.BLOCKED
        assert await self._answer(scene, claim.id, T0 + 2)
        await scene.succeed(await scene.claim_one(T0 + 2), T0 + 3)
        assert (await scene.claim_one(T0 + 3)).id == later

    async def test_one_that_is_cancelled_is_answered_no_more(self, scene: Scene) -> None:
        claim = await asking(scene, await scene.job(trigger=OnDemand()))
        await wait(scene, claim)
        await scene.store.request_cancel("default", [claim.id], T0 + 1)
        assert not await self._answer(scene, claim.id, T0 + 2)
        assert (await scene.execution(claim)).state is State.CANCELLED
