"""Steps: what an execution has done is kept from one attempt to the next."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tickwell.domain.execution import Claim, OutcomeKind, State
from tickwell.domain.gate import Concurrency
from tickwell.domain.job import Job
from tickwell.domain.policy import Retention, Retry
from tickwell.domain.step import Step
from tickwell.domain.trigger import OnDemand
from tickwell.testing.contract.builders import T0, a_request, fresh_id, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


def a_step(claim: Claim, name: str, value: Any = None, at: int = T0, **fields: Any) -> Step:
    """Something that the attempt has done."""
    step: dict[str, Any] = {
        "execution": claim.id,
        "attempt": claim.attempt,
        "name": name,
        "value": value,
        "at": at,
    }
    return Step(**(step | fields))


class Steps(Topic):
    """`write_steps`, `list_steps`."""

    async def _under_way(self, scene: Scene, job: Job | None = None, count: int = 1) -> list[Claim]:
        job = job or await scene.job(trigger=OnDemand(), retry=Retry(max_attempts=5))
        await scene.run(*(a_request(job, T0) for _ in range(count)))
        return await scene.claim(T0)

    async def test_steps_are_listed_as_they_were_written(self, scene: Scene, other: Scene) -> None:
        [claim] = await self._under_way(scene)
        steps = [
            a_step(claim, "charge", {"receipt": "r-1", "cents": 2**60}, T0 + 2),
            a_step(claim, "mail", None, T0 + 3),
            a_step(claim, "Zoë's $.step", ["ö", {"a.b": "$x"}], T0 + 1),
            a_step(claim, "", {"page": 3}, T0 + 3, is_final=False),
        ]
        assert await scene.store.write_steps(steps) == []
        listed = [steps[2], steps[0], steps[3], steps[1]]
        assert await other.store.list_steps("default", claim.id) == listed
        assert await scene.store.write_steps([]) == []

    async def test_steps_belong_to_their_execution_and_project(self, scene: Scene) -> None:
        one, two = await self._under_way(scene, count=2)
        await scene.store.write_steps([a_step(one, "a"), a_step(two, "b")])
        assert await scene.store.list_steps("default", one.id) == [a_step(one, "a")]
        assert await scene.store.list_steps("other", one.id) == []
        assert await scene.store.list_steps("default", fresh_id()) == []
        assert await scene.store.list_steps("default", "no id") == []

    async def test_what_is_final_stays(self, scene: Scene) -> None:
        [claim] = await self._under_way(scene)
        first, second = a_step(claim, "charge", 1, T0 + 1), a_step(claim, "charge", 2, T0 + 2)
        assert await scene.store.write_steps([first]) == []
        assert await scene.store.write_steps([second]) == []
        assert await scene.store.list_steps("default", claim.id) == [first]
        other = replace(first, name="mail")
        assert await scene.store.write_steps([other, replace(second, name="mail")]) == []
        assert await scene.store.list_steps("default", claim.id) == [first, other]

    async def test_what_is_not_final_is_replaced(self, scene: Scene) -> None:
        [claim] = await self._under_way(scene)
        pages = [a_step(claim, "", n, T0 + n, is_final=False) for n in range(4)]
        await scene.store.write_steps(pages[:2])
        assert await scene.store.list_steps("default", claim.id) == [pages[1]]
        await scene.store.write_steps(pages[2:])
        assert await scene.store.list_steps("default", claim.id) == [pages[3]]
        await scene.store.write_steps([replace(pages[0], is_final=True)])
        await scene.store.write_steps([pages[1]])
        assert await scene.store.list_steps("default", claim.id) == [
            replace(pages[0], is_final=True)
        ]

    async def test_a_step_of_an_attempt_that_is_not_under_way_is_refused(
        self, scene: Scene
    ) -> None:
        [claim] = await self._under_way(scene)
        for wrong in (
            replace(a_step(claim, "a"), attempt=2),
            replace(a_step(claim, "a"), attempt=0),
            replace(a_step(claim, "a"), execution=fresh_id()),
        ):
            assert await scene.store.write_steps([wrong]) == [wrong]
        await scene.succeed(claim, T0 + 1)
        late = a_step(claim, "late")
        assert await scene.store.write_steps([late]) == [late]
        assert await scene.store.list_steps("default", claim.id) == []

    async def test_of_several_only_the_refused_are_not_written(self, scene: Scene) -> None:
        one, two = await self._under_way(scene, count=2)
        await scene.succeed(one, T0 + 1)
        steps = [a_step(one, "a"), a_step(two, "a"), a_step(one, "b"), a_step(two, "b")]
        assert await scene.store.write_steps(steps) == [steps[0], steps[2]]
        assert await scene.store.list_steps("default", one.id) == []
        assert await scene.store.list_steps("default", two.id) == [steps[1], steps[3]]

    @pytest.mark.parametrize("key", [None, "one at a time"])
    async def test_the_next_attempt_has_the_steps_of_the_former_ones(
        self, scene: Scene, other: Scene, key: str | None
    ) -> None:
        limit = None if key is None else Concurrency(key)
        job = await scene.job(trigger=OnDemand(), retry=Retry(max_attempts=5), concurrency=limit)
        [claim] = await self._under_way(scene, job)
        done = a_step(claim, "charge", "r-1")
        await scene.store.write_steps([done])
        await scene.fail(claim, T0 + 1, delay=0)
        again = await other.claim_one(T0 + 2, "w2")
        assert await other.store.list_steps("default", again.id) == [done]
        more = a_step(again, "mail", None, T0 + 2)
        stale = a_step(claim, "late", None, T0 + 3)
        assert await scene.store.write_steps([more, stale]) == [stale]
        await other.succeed(again, T0 + 4)
        assert await scene.store.list_steps("default", again.id) == [done, more]

    async def test_a_lost_attempt_writes_nothing_once_it_is_recovered(
        self, scene: Scene, other: Scene
    ) -> None:
        [zombie] = await self._under_way(scene)
        await scene.store.write_steps([a_step(zombie, "charge")])
        await other.store.declare_lost("w1", (await scene.beat("w1")).beat, T0)
        await other.finish(await other.store.orphans(T0, 10), OutcomeKind.LOST, T0 + 1, delay=0)
        late = a_step(zombie, "mail")
        assert await scene.store.write_steps([late]) == [late]
        again = await other.claim_one(T0 + 1, "w2")
        assert await scene.store.write_steps([late]) == [late]
        assert [one.name for one in await other.store.list_steps("default", again.id)] == ["charge"]

    async def test_revived_it_goes_on_with_what_it_has_done(self, scene: Scene) -> None:
        [claim] = await self._under_way(scene)
        await scene.store.write_steps([a_step(claim, "charge")])
        await scene.fail(claim, T0 + 1, retry=False)
        await scene.store.revive("default", [claim.id], T0 + 2)
        again = await scene.claim_one(T0 + 2)
        assert await scene.store.list_steps("default", again.id) == [a_step(claim, "charge")]

    async def test_steps_change_nothing_else(self, scene: Scene) -> None:
        [claim] = await self._under_way(scene)
        before = await scene.execution(claim)
        await scene.store.write_steps([a_step(claim, "charge", "x" * 60_000)])
        assert await scene.execution(claim) == before
        assert await scene.executions() == [before]
        assert (await scene.succeed(claim, T0 + 1)).refused == []
        assert (await scene.execution(claim)).state is State.SUCCEEDED

    async def test_steps_are_deleted_with_their_execution(self, scene: Scene) -> None:
        kept = Retention(age="0s", dead="10d")
        job = await scene.job(trigger=OnDemand(), retention=kept)
        one, two = await self._under_way(scene, job, count=2)
        await scene.store.write_steps([a_step(one, "a"), a_step(two, "b")])
        await scene.succeed(one, T0 + 1)
        await scene.fail(two, T0 + 1, retry=False)
        await scene.store.prune(minute(1), 100)
        assert await scene.store.get_execution("default", one.id) is None
        assert await scene.store.list_steps("default", one.id) == []
        assert await scene.store.list_steps("default", two.id) == [a_step(two, "b")]
        assert await scene.store.purge("default", [two.id], minute(2)) == [two.id]
        # The same execution again has done nothing.
        again = a_request(job, T0)
        again.id = two.id
        await scene.run(again)
        assert await scene.store.list_steps("default", two.id) == []

    async def test_no_step_comes_after_the_next_attempt_has_read_them(
        self, scene: Scene, other: Scene
    ) -> None:
        """A step and the end of its attempt meet: it is refused, or the next attempt has it."""
        job = await scene.job(trigger=OnDemand(), retry=Retry(max_attempts=50))
        [claim] = await self._under_way(scene, job)
        for n in range(12):
            steps = [a_step(claim, f"{n}-{m}") for m in range(8)]
            writing = [
                asyncio.create_task(handle.store.write_steps([step]))
                for step, handle in zip(steps, [scene, other] * 4, strict=True)
            ]
            await other.fail(claim, T0 + n, delay=0)
            claim = await other.claim_one(T0 + n)
            seen = {one.name for one in await other.store.list_steps("default", claim.id)}
            refused = {one.name for some in await asyncio.gather(*writing) for one in some}
            assert {step.name for step in steps} - refused <= seen
            assert not refused & seen
