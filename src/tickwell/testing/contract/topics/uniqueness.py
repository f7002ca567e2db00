"""Uniqueness and debounce: requests for the same run, and which of them make one."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from tickwell.domain.change import edit, pause
from tickwell.domain.execution import Kind, NewExecution, OutcomeKind, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Job
from tickwell.domain.policy import HOUR, MINUTE, SECOND, Retention
from tickwell.domain.trigger import OnDemand
from tickwell.domain.trigger.duration import Millis
from tickwell.domain.unique import unique_of, uniqueness_of
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


async def _job(scene: Scene, **fields: Any) -> Job:
    given: dict[str, Any] = {"trigger": OnDemand(), **fields}
    return await scene.job(**given)


def _asked(job: Job, now: int, payload: Any = None, **fields: Any) -> NewExecution:
    """A request at an instant, which a debounced job runs later."""
    new = a_request(job, now + (job.debounce or 0), payload=payload, **fields)
    rule = uniqueness_of(job, None)
    new.unique = None if rule is None else unique_of(job, payload, rule)
    return new


async def _ask(scene: Scene, job: Job, now: int, payload: Any = None, **fields: Any) -> str:
    [id] = await scene.run(_asked(job, now, payload, **fields), now=now)
    return id


async def _state(scene: Scene, id: str) -> State:
    return (await scene.execution(id)).state


async def _when(scene: Scene, id: str) -> tuple[State, int]:
    found = await scene.execution(id)
    return found.state, found.run_at


class Uniqueness(Topic):
    """Decided and recorded in one step: of equal requests at once, one makes a run."""

    async def test_a_request_finds_the_run_that_is_pending(self, scene: Scene) -> None:
        job = await _job(scene, unless="pending")
        first = await _ask(scene, job, T0)
        assert await _ask(scene, job, T0 + 1) == first
        assert await scene.states() == [State.QUEUED]

    async def test_other_arguments_are_another_run(self, scene: Scene) -> None:
        job = await _job(scene, unless="pending", payload={"customer": 1})
        first = await _ask(scene, job, T0)
        second = await _ask(scene, job, T0, {"customer": 2})
        assert second != first
        assert await _ask(scene, job, T0, {"customer": 1}) == first
        assert await _ask(scene, job, T0, {"customer": 2}) == second
        assert len(await scene.states()) == 2

    async def test_a_key_takes_the_place_of_the_arguments(self, scene: Scene) -> None:
        job = await _job(scene, unless="pending", unique_key="{payload.customer}")
        first = await _ask(scene, job, T0, {"customer": 1, "page": 1})
        assert await _ask(scene, job, T0, {"customer": 1, "page": 2}) == first
        assert await _ask(scene, job, T0, {"customer": 2, "page": 1}) != first
        assert (await scene.execution(first)).payload == {"customer": 1, "page": 1}

    async def test_each_job_has_its_own(self, scene: Scene) -> None:
        jobs = [await _job(scene, unless="running") for _ in range(2)]
        ids = await scene.run(*(_asked(job, T0) for job in [*jobs, *jobs]))
        assert ids[:2] == ids[2:]
        assert len(await scene.states()) == 2

    async def test_of_equal_requests_in_one_call_the_first_is_made(self, scene: Scene) -> None:
        job = await _job(scene, unless="pending")
        new = [_asked(job, T0, payload) for payload in (1, 2, 1, 2, 1)]
        ids = await scene.run(*new)
        assert ids == [new[0].id, new[1].id, new[0].id, new[1].id, new[0].id]
        assert len(await scene.states()) == 2

    async def test_whoever_waits_or_stands_before_a_gate_is_pending(self, scene: Scene) -> None:
        later = await _job(scene, unless="pending")
        [waits] = await scene.run(
            replace(_asked(later, T0), run_at=T0 + HOUR, fire_time=T0 + HOUR), now=T0
        )
        assert await _state(scene, waits) is State.WAITING
        assert await _ask(scene, later, T0 + 1) == waits
        gated = await _job(scene, unless="pending", concurrency=Concurrency("k"))
        await _ask(scene, gated, T0, 1)
        blocked = await _ask(scene, gated, T0, 2)
        assert await _state(scene, blocked) is State.BLOCKED
        assert await _ask(scene, gated, T0 + 1, 2) == blocked
        await scene.settle([blocked], State.PARKED, T0 + 2)
        assert await _ask(scene, gated, T0 + 3, 2) == blocked

    async def test_a_run_that_waits_for_its_retry_is_pending(self, scene: Scene) -> None:
        job = await _job(scene, unless="pending", retry=5)
        first = await _ask(scene, job, T0)
        claim = await scene.claim_one(T0)
        second = await _ask(scene, job, T0 + 1)
        assert second != first
        await scene.settle([second], State.CANCELLED, T0 + 1)
        await scene.fail(claim, T0 + 2, delay=MINUTE)
        assert await _ask(scene, job, T0 + 3) == first

    async def test_a_running_one_counts_if_asked_for(self, scene: Scene) -> None:
        for unless, expected in (("pending", False), ("running", True), ("1h", True)):
            job = await _job(scene, unless=unless)
            first = await _ask(scene, job, T0)
            await scene.claim_one(T0)
            assert (await _ask(scene, job, T0 + 1) == first) is expected, unless
            await scene.claim(T0 + 1)

    async def test_one_that_has_ended_counts_for_a_duration_only(self, scene: Scene) -> None:
        for unless, expected in (("pending", False), ("running", False), ("1h", True)):
            for kind in (OutcomeKind.SUCCEEDED, OutcomeKind.FAILED):
                job = await _job(scene, unless=unless, retry=1)
                first = await _ask(scene, job, T0)
                await scene.finish(await scene.claim_one(T0), kind, T0 + 1)
                assert (await _ask(scene, job, T0 + 2) == first) is expected, (unless, kind)
                await scene.claim(T0 + 2)

    async def test_a_duration_counts_from_the_request(self, scene: Scene) -> None:
        job = await _job(scene, unless="1h")
        first = await _ask(scene, job, T0)
        await scene.succeed(await scene.claim_one(T0), T0 + 30 * MINUTE)
        assert await _ask(scene, job, T0 + HOUR - 1) == first
        second = await _ask(scene, job, T0 + HOUR)
        assert second != first
        await scene.store.request_cancel("default", [second], T0 + HOUR)
        assert await _ask(scene, job, T0 + HOUR + 1) == second

    async def test_a_live_one_counts_however_long_ago_it_was_requested(self, scene: Scene) -> None:
        job = await _job(scene, unless="1h")
        first = await _ask(scene, job, T0)
        assert await _ask(scene, job, T0 + 5 * HOUR) == first

    async def test_the_newest_answers(self, scene: Scene) -> None:
        job = await _job(scene, unless="never")
        ids = [await _ask(scene, job, T0 + n) for n in range(3)]
        assert len(set(ids)) == 3
        wiser = replace(job, unless="running")
        assert await _ask(scene, wiser, T0 + 5) == ids[2]

    async def test_runs_without_the_rule_are_not_found(self, scene: Scene) -> None:
        job = await _job(scene, unless="running")
        [plain] = await scene.run(a_request(job, T0))
        assert await _ask(scene, job, T0) != plain

    async def test_a_dead_one_counts_again_when_revived(self, scene: Scene) -> None:
        job = await _job(scene, unless="running", retry=1)
        first = await _ask(scene, job, T0)
        await scene.fail(await scene.claim_one(T0), T0 + 1)
        second = await _ask(scene, job, T0 + 2)
        assert second != first
        await scene.settle([second], State.CANCELLED, T0 + 3)
        await scene.store.revive("default", [first], T0 + 4)
        assert await _ask(scene, job, T0 + 5) == first

    async def test_what_is_forgotten_counts_no_more(self, scene: Scene) -> None:
        job = await _job(scene, unless="1h", retention=Retention(age="1h", count=0))
        first = await _ask(scene, job, T0)
        await scene.succeed(await scene.claim_one(T0), T0 + 1)
        await scene.store.prune(minute(5), 100)
        assert await scene.store.get_execution("default", first) is None
        assert await _ask(scene, job, minute(6)) != first

    async def test_a_key_of_a_request_comes_first(self, scene: Scene) -> None:
        job = await _job(scene, unless="pending")
        first = await _ask(scene, job, T0, key="a")
        assert await _ask(scene, job, T0 + 1, key="b") == first
        await scene.succeed(await scene.claim_one(T0 + 1), T0 + 2)
        assert await _ask(scene, job, T0 + 3, key="a") == first

    async def test_a_request_is_repeated_without_effect(self, scene: Scene) -> None:
        for job in (await _job(scene, unless="pending"), await _job(scene, debounce="30s")):
            new = _asked(job, T0)
            for _ in range(3):
                assert await scene.run(new) == [new.id]
            assert (await scene.execution(new.id)).run_at == new.run_at
        assert len(await scene.states()) == 2

    async def test_many_of_one_kind_make_one_run(self, scene: Scene, other: Scene) -> None:
        """A hundred equal requests through two handles; then five arguments, twenty of each."""
        for unless in ("pending", "running", "1h"):
            job, sides = await _job(scene, unless=unless), (scene, other)
            asked = [_ask(sides[n % 2], job, T0 + n) for n in range(100)]
            assert len(set(await asyncio.gather(*asked))) == 1
            asked = [_ask(sides[n % 2], job, T0 + n, n % 5) for n in range(100)]
            assert len(set(await asyncio.gather(*asked))) == 5
            found = await scene.executions(job)
            assert len(found) == 6, unless

    async def test_many_requests_among_claims_and_ends_never_make_two(
        self, scene: Scene, other: Scene
    ) -> None:
        """At no time are two of them live, and every request is answered by one that is."""
        job = await _job(scene, unless="running")
        ids = set()
        for turn in range(12):
            now = T0 + turn * SECOND
            asked = [_ask(side, job, now) for side in (scene, other) for _ in range(4)]
            answers, claims = await asyncio.gather(
                asyncio.gather(*asked), (scene if turn % 2 else other).claim(now)
            )
            found = await scene.executions(job)
            assert len([one for one in found if one.ended_at is None]) == 1
            ids |= set(answers)
            claims += await scene.claim(now)
            await asyncio.gather(
                scene.succeed(claims, now), *(_ask(other, job, now) for _ in range(2))
            )
        found = await scene.executions(job)
        assert ids <= {one.id for one in found}


class Debounce(Topic):
    """A request that finds a pending run replaces what it asks for, and puts it off."""

    async def test_the_newest_wins_when_no_more_come(self, scene: Scene) -> None:
        job = await _job(scene, debounce="30s")
        first = await _ask(scene, job, T0, {"n": 1})
        assert await _when(scene, first) == (State.WAITING, T0 + 30 * SECOND)
        assert await _ask(scene, job, T0 + 20 * SECOND, {"n": 1}) == first
        assert await _when(scene, first) == (State.WAITING, T0 + 50 * SECOND)
        await scene.promote(T0 + 50 * SECOND - 1)
        assert await scene.claim(T0 + 50 * SECOND - 1) == []
        await scene.promote(T0 + 50 * SECOND)
        assert (await scene.claim_one(T0 + 50 * SECOND)).id == first

    async def test_it_runs_with_the_newest_payload(self, scene: Scene) -> None:
        job = await _job(scene, debounce="30s", unique_key="{payload.doc}")
        first = await _ask(scene, job, T0, {"doc": 1, "text": "a"})
        other = await _ask(scene, job, T0, {"doc": 2, "text": "x"})
        assert await _ask(scene, job, T0 + 1, {"doc": 1, "text": "b"}) == first
        assert (await scene.execution(first)).payload == {"doc": 1, "text": "b"}
        await scene.promote(minute(1))
        claims = {claim.id: claim.payload for claim in await scene.claim(minute(1))}
        assert claims == {first: {"doc": 1, "text": "b"}, other: {"doc": 2, "text": "x"}}

    async def test_the_own_payload_of_the_job_replaces_another(self, scene: Scene) -> None:
        job = await _job(scene, debounce="30s", unique_key="all", payload={"n": 0})
        first = await _ask(scene, job, T0, {"n": 1})
        await _ask(scene, job, T0 + 1)
        await scene.promote(minute(1))
        claim = await scene.claim_one(minute(1))
        assert (claim.id, claim.payload) == (first, {"n": 0})

    async def test_it_waits_no_longer_than_the_maximum(self, scene: Scene) -> None:
        job = await _job(scene, debounce="30s", debounce_max="1m", unique_key="all")
        first = await _ask(scene, job, T0, 0)
        for n in range(1, 6):
            assert await _ask(scene, job, T0 + n * 10 * SECOND, n) == first
        assert await _when(scene, first) == (State.WAITING, minute(1))
        await scene.promote(minute(1))
        claim = await scene.claim_one(minute(1))
        assert (claim.id, claim.payload, claim.run_at) == (first, 5, minute(1))

    async def test_a_run_that_is_queued_ahead_is_put_off_as_well(self, scene: Scene) -> None:
        job = await _job(scene, debounce="2s", unique_key="all")
        first = await _ask(scene, job, T0, 1)
        await scene.promote(T0, horizon=2 * SECOND)
        assert await _state(scene, first) is State.QUEUED
        assert await _ask(scene, job, T0 + SECOND, 2) == first
        assert await _when(scene, first) == (State.WAITING, T0 + 3 * SECOND)
        assert await scene.claim(T0 + 2 * SECOND) == []
        await scene.promote(T0 + 3 * SECOND)
        assert (await scene.claim_one(T0 + 3 * SECOND)).payload == 2

    async def test_what_is_overdue_gets_the_payload_and_keeps_its_turn(self, scene: Scene) -> None:
        job = await _job(
            scene,
            debounce="2s",
            debounce_max="2s",
            unique_key="{payload.doc}",
            concurrency=Concurrency("k"),
        )
        first = await _ask(scene, job, T0, {"doc": 1, "n": 1})
        second = await _ask(scene, job, T0 + 1, {"doc": 2, "n": 1})
        await scene.promote(minute(1))
        assert await _state(scene, first) is State.QUEUED
        assert await _state(scene, second) is State.BLOCKED
        assert await _ask(scene, job, minute(1), {"doc": 1, "n": 2}) == first
        assert await _ask(scene, job, minute(1), {"doc": 2, "n": 2}) == second
        assert await _state(scene, first) is State.QUEUED
        claim = await scene.claim_one(minute(1))
        assert (claim.id, claim.payload) == (first, {"doc": 1, "n": 2})
        await scene.succeed(claim, minute(1))
        claim = await scene.claim_one(minute(1))
        assert (claim.id, claim.payload) == (second, {"doc": 2, "n": 2})

    async def test_a_running_one_is_not_touched(self, scene: Scene) -> None:
        job = await _job(scene, debounce="1s", unique_key="all", retry=5)
        first = await _ask(scene, job, T0, 1)
        await scene.promote(T0 + SECOND)
        claim = await scene.claim_one(T0 + SECOND)
        second = await _ask(scene, job, T0 + SECOND, 2)
        assert second != first
        # One that was tried keeps its payload for the next attempt.
        await scene.fail(claim, T0 + SECOND, delay=MINUTE)
        assert await _ask(scene, job, T0 + SECOND + 1, 3) == second
        assert (await scene.execution(first)).payload == 1
        assert (await scene.execution(second)).payload == 3

    async def test_the_permits_it_holds_go_to_the_next(self, scene: Scene) -> None:
        job = await _job(
            scene, debounce="1s", unique_key="{payload.doc}", concurrency=Concurrency("k")
        )
        first = await _ask(scene, job, T0, {"doc": 1})
        second = await _ask(scene, job, T0 + 1, {"doc": 2})
        await scene.promote(T0 + SECOND + 1)
        assert await _state(scene, second) is State.BLOCKED
        assert await _ask(scene, job, T0 + SECOND + 1, {"doc": 1}) == first
        assert await _when(scene, first) == (State.WAITING, T0 + 2 * SECOND + 1)
        assert await _state(scene, second) is State.QUEUED
        await scene.succeed(await scene.claim_one(T0 + SECOND + 1), T0 + SECOND + 1)
        await scene.promote(T0 + 2 * SECOND + 1)
        assert (await scene.claim_one(T0 + 2 * SECOND + 1)).id == first

    async def test_the_newest_payload_decides_the_gate(self, scene: Scene) -> None:
        job = await _job(
            scene,
            debounce="1s",
            debounce_max="1s",
            unique_key="all",
            concurrency=Concurrency("{{payload.host}}"),
        )
        first = await _ask(scene, job, T0, {"host": "a"})
        await scene.promote(T0 + SECOND)
        assert await _ask(scene, job, T0 + SECOND, {"host": "b"}) == first
        assert await _state(scene, first) is State.QUEUED
        free = await _job(scene, concurrency=Concurrency("a"))
        full = await _job(scene, concurrency=Concurrency("b"))
        [a, b] = await scene.run(
            a_request(free, T0 + SECOND), a_request(full, T0 + SECOND), now=T0 + SECOND
        )
        assert await _state(scene, a) is State.QUEUED
        assert await _state(scene, b) is State.BLOCKED
        claims = await scene.claim(T0 + SECOND)
        await scene.succeed(claims, T0 + SECOND)
        assert await _state(scene, b) is State.QUEUED

    async def test_a_permit_of_the_job_is_given_back(self, scene: Scene) -> None:
        job = await _job(scene, debounce="1s", unique_key="{payload.doc}")
        ids = await scene.run(
            *(_asked(job, T0, {"doc": doc}, overlap=Overlap.QUEUE_ALL) for doc in (1, 2))
        )
        await scene.promote(T0 + SECOND)
        states = [await _state(scene, id) for id in ids]
        assert sorted(states) == [State.BLOCKED, State.QUEUED]
        holder = ids[states.index(State.QUEUED)]
        waits = ids[states.index(State.BLOCKED)]
        doc = (await scene.execution(holder)).payload
        again = _asked(job, T0 + SECOND, doc, overlap=Overlap.QUEUE_ALL)
        assert await scene.run(again, now=T0 + SECOND) == [holder]
        assert await _state(scene, waits) is State.QUEUED
        await scene.promote(T0 + 2 * SECOND)
        assert await _state(scene, holder) is State.BLOCKED

    async def test_a_permit_of_a_rate_was_not_used(self, scene: Scene) -> None:
        job = await _job(scene, debounce="1s", unique_key="{payload.doc}", rate="1/1m")
        first = await _ask(scene, job, T0, {"doc": 1})
        await scene.promote(T0 + SECOND)
        assert await _state(scene, first) is State.QUEUED
        assert await _ask(scene, job, T0 + SECOND, {"doc": 1}) == first
        second = await _ask(scene, job, T0, {"doc": 2})
        await scene.promote(T0 + SECOND)
        assert await _state(scene, second) is State.QUEUED

    async def test_its_time_to_live_counts_from_the_new_instant(self, scene: Scene) -> None:
        job = await _job(scene, debounce="30s", expires="30s", unique_key="all")
        first = await _ask(scene, job, T0, 1)
        await _ask(scene, job, T0 + 20 * SECOND, 2)
        await scene.promote(T0 + 70 * SECOND)
        assert await _state(scene, first) is State.QUEUED
        await scene.promote(T0 + 80 * SECOND)
        assert await _state(scene, first) is State.SKIPPED

    async def test_a_request_runs_though_its_job_is_paused(self, scene: Scene) -> None:
        job = await _job(scene, debounce="30s", unique_key="all")
        first = await _ask(scene, job, T0, 1)
        await scene.change(job, pause("ann", "wait"), T0 + 1)
        assert await _ask(scene, job, T0 + 2, 2) == first
        assert await _when(scene, first) == (State.WAITING, T0 + 2 + 30 * SECOND)

    async def test_of_an_edited_job_the_run_is_still_found(self, scene: Scene) -> None:
        job = await _job(scene, debounce="30s", unique_key="all")
        first = await _ask(scene, job, T0, 1)
        wider = replace(job, debounce=Millis(MINUTE), queue="slow")
        await scene.change(job, edit(wider), T0 + 1)
        edited = replace(wider, version=2)
        assert await _ask(scene, edited, T0 + 2, 2) == first
        found = await scene.execution(first)
        assert (found.run_at, found.queue) == (minute(1) + 2, "slow")

    async def test_of_several_in_one_call_the_last_wins(self, scene: Scene) -> None:
        job = await _job(scene, debounce="30s", unique_key="{payload.doc}")
        docs = [{"doc": n % 2, "n": n} for n in range(6)]
        ids = await scene.run(*(_asked(job, T0, doc) for doc in docs))
        assert ids == [ids[0], ids[1]] * 3
        payloads = [(await scene.execution(id)).payload for id in ids[:2]]
        assert payloads == docs[-2:]

    async def test_a_debounced_run_is_found_by_debounced_requests_only(self, scene: Scene) -> None:
        job = await _job(scene, debounce="30s")
        first = await _ask(scene, job, T0)
        once = replace(job, debounce=None, unless="running")
        second = await _ask(scene, once, T0)
        assert second != first
        assert await _ask(scene, job, T0 + 1) == first

    async def test_requests_at_once_make_one_run(self, scene: Scene, other: Scene) -> None:
        job = await _job(scene, debounce="30s", debounce_max="40s", unique_key="all")
        sides = (scene, other)
        asked = [_ask(sides[n % 2], job, T0 + n * SECOND, n) for n in range(40)]
        ids = set(await asyncio.gather(*asked))
        assert len(ids) == 1
        [found] = await scene.executions(job)
        assert found.run_at <= found.created_at + 40 * SECOND
        assert found.payload in range(40)

    async def test_every_request_is_in_the_run_or_in_one_after_it(
        self, scene: Scene, other: Scene
    ) -> None:
        """Claims among requests: the last payload is that of the last run, and none runs twice."""
        job = await _job(scene, debounce="1s", unique_key="all")
        seen: list[Any] = []
        for turn in range(15):
            now = T0 + turn * SECOND
            await scene.promote(now, horizon=2 * SECOND)
            _, claims = await asyncio.gather(
                _ask(other, job, now, turn), scene.claim(now, lead=500)
            )
            seen += [claim.payload for claim in claims]
            await scene.succeed(claims, now)
        now = T0 + 20 * SECOND
        await scene.promote(now)
        seen += [claim.payload for claim in await scene.claim(now)]
        assert seen[-1] == 14
        assert seen == sorted(set(seen))

    async def test_a_fire_is_neither_found_nor_replaced(self, scene: Scene) -> None:
        job = await scene.job(debounce="30s", unique_key="all")
        await scene.fire(minute(1))
        assert (await scene.at(job, minute(1))).kind is Kind.FIRE
        id = await _ask(scene, job, minute(1), 1)
        assert id != (await scene.at(job, minute(1))).id
        assert (await scene.at(job, minute(1))).payload is None
