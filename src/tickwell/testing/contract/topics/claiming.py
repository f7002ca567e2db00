"""Claiming: the best first, what the worker can run, and nothing to two callers."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from dataclasses import replace

from tickwell.domain.ability import call_ability, shared_ability
from tickwell.domain.execution import Kind, OutcomeKind, State
from tickwell.domain.job import HEAD_START
from tickwell.domain.policy import MINUTE, SECOND, Timeout
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.testing.contract.builders import T0, a_job, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic

#: The one that abilities leave out, a plain one, and those that have to be quoted or shortened.
PROJECTS = ("default", "shop", "a/b", "ü" * 255)


class Claiming(Topic):
    """`claim`."""

    async def test_a_claim_carries_all_that_an_attempt_needs(self, scene: Scene) -> None:
        job = await scene.job(payload={"to": "a"}, timeout=Timeout(soft="1s", hard="2s"))
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1), claim_id="c1")
        assert claim.job == job
        assert (claim.kind, claim.payload) == (Kind.FIRE, {"to": "a"})
        assert (claim.attempt, claim.charged, claim.lost, claim.returned) == (1, 1, 0, 0)
        assert claim.fire_time == claim.run_at == minute(1)
        assert (claim.worker, claim.claim_id) == ("w1", "c1")
        assert claim.deadline == minute(1) + 2 * SECOND + MINUTE
        execution = await scene.execution(claim)
        assert (execution.state, execution.attempt, execution.charged) == (State.RUNNING, 1, 1)
        assert (execution.worker, execution.deadline) == ("w1", claim.deadline)

    async def test_a_run_may_bring_its_own_payload(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), payload={"to": "a"})
        await scene.run(a_request(job, T0, payload={"to": "b"}))
        assert (await scene.claim_one(T0)).payload == {"to": "b"}

    async def test_claimed_ahead_the_deadline_counts_from_the_instant(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.fire(minute(1) - 500, horizon=500)
        assert await scene.claim(minute(1) - 500, lead=499) == []
        claim = await scene.claim_one(minute(1) - 500, lead=500)
        assert claim.deadline == minute(1) + job.timeout.hard + MINUTE

    async def test_what_is_claimed_is_not_claimed_again(self, scene: Scene) -> None:
        await scene.job()
        await scene.fire(minute(1))
        assert len(await scene.claim(minute(1), "w1")) == 1
        assert await scene.claim(minute(1), "w1") == []
        assert await scene.claim(minute(1), "w2") == []

    async def test_what_a_worker_leaves_out_is_for_others(self, scene: Scene, other: Scene) -> None:
        """One that may not run a job claims past it, however good its rank and by name, too."""
        barred, hers, free = [await scene.job(trigger=OnDemand(), priority=n) for n in (9, 8, 1)]
        requests = [a_request(job, T0) for job in (barred, barred, hers, free)]
        ids = await scene.run(*requests)
        out = {"left_out": (barred.id, hers.id, a_job().id)}
        assert [one.id for one in await scene.claim(T0, "w1", limit=1, **out)] == [ids[3]]
        assert await scene.claim(T0, "w1", **out) == []
        named = {"ids": (ids[0],), **out}
        assert await scene.claim(T0, "w1", **named) == []
        taken = await other.claim(T0, "w2", left_out=(hers.id,))
        assert {one.id for one in taken} == set(ids[:2])
        # It may by now.
        assert (await scene.claim_one(T0, "w1", left_out=(barred.id,))).id == ids[2]

    async def test_a_repeated_claim_answers_what_it_took_whatever_it_leaves_out_by_now(
        self, scene: Scene, other: Scene
    ) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        taken = await scene.claim_one(T0, claim_id="c")
        again = await other.store.claim(
            scene.request(T0, claim_id="c", repeated=True, left_out=(job.id,))
        )
        assert [one.id for one in again] == [taken.id]

    async def test_the_best_rank_comes_first(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        urgent = await scene.job(trigger=OnDemand(), priority=10)
        late = T0 + 5 * HEAD_START
        ids = await scene.run(
            a_request(job, T0 + 2), a_request(job, T0 + 1), a_request(urgent, late), now=late
        )
        # Five steps of priority are a head start of exactly so much: equal but for the moment.
        claims = await scene.claim(late)
        assert [claim.id for claim in claims] == [ids[2], ids[1], ids[0]]

    async def test_the_limit_takes_the_best_of_all_queues(self, scene: Scene) -> None:
        one = await scene.job(trigger=OnDemand(), queue="one")
        two = await scene.job(trigger=OnDemand(), queue="two")
        ids = await scene.run(
            a_request(one, T0 + 1), a_request(two, T0), a_request(two, T0 + 2), now=T0 + 2
        )
        claims = await scene.claim(T0 + 2, limit=2, queues=("one", "two", "one"))
        assert [claim.id for claim in claims] == [ids[1], ids[0]]

    async def test_only_the_queues_asked_for(self, scene: Scene) -> None:
        mail = await scene.job(trigger=OnDemand(), queue="mail")
        await scene.run(a_request(mail, T0))
        assert await scene.claim(T0) == []
        assert await scene.claim(T0, queues=()) == []
        assert len(await scene.claim(T0, queues=("default", "mail"))) == 1

    async def test_only_what_the_worker_can_run(self, scene: Scene) -> None:
        other = await scene.job(trigger=OnDemand(), target=Call("other"))
        mine = await scene.job(trigger=OnDemand())
        await scene.run(a_request(other, T0), a_request(mine, T0 + 1), now=T0 + 1)
        assert (await scene.claim_one(T0 + 1, limit=1)).job == mine
        assert await scene.claim(T0 + 1, abilities=frozenset()) == []
        assert (await scene.claim_one(T0 + 1, abilities=frozenset({"call:other"}))).job == other

    async def test_a_handler_runs_for_its_own_project_only(self, scene: Scene) -> None:
        jobs = [await scene.job(trigger=OnDemand(), project=name) for name in PROJECTS]
        ids = await scene.run(*(a_request(job, T0) for job in jobs))
        for job, id in zip(jobs, ids, strict=True):
            able = frozenset({call_ability(job.project, "work")})
            claims = await scene.claim(T0, abilities=able | {"call:other"}, ids=tuple(ids))
            assert [claim.id for claim in claims] == [id]
            await scene.finish(claims, OutcomeKind.RELEASED, T0)
            await scene.promote(T0)
        for job, id in zip(jobs, ids, strict=True):
            able = frozenset({call_ability(job.project, "work")})
            assert [claim.id for claim in await scene.claim(T0, abilities=able)] == [id]

    async def test_a_slash_in_a_name_is_no_way_to_the_handler_of_another(
        self, scene: Scene
    ) -> None:
        mine = await scene.job(trigger=OnDemand(), target=Call("shop/work"))
        theirs = await scene.job(trigger=OnDemand(), project="shop")
        odd = await scene.job(trigger=OnDemand(), project="default/shop")
        star = await scene.job(trigger=OnDemand(), project="*")
        await scene.run(*(a_request(job, T0) for job in (mine, theirs, odd, star)))
        for job in (theirs, mine, star, odd):
            able = frozenset({job.ability, "call:unheard-of"})
            assert [claim.job for claim in await scene.claim(T0, abilities=able)] == [job]

    async def test_a_shared_handler_runs_for_all_projects_best_rank_first(
        self, scene: Scene
    ) -> None:
        jobs = [await scene.job(trigger=OnDemand(), project=name) for name in PROJECTS]
        other = await scene.job(trigger=OnDemand(), project="shop", target=Call("other"))
        slash = await scene.job(trigger=OnDemand(), project="shop", target=Call("a/work"))
        ids = await scene.run(
            *(a_request(job, T0 + n) for n, job in enumerate(jobs)),
            *(a_request(job, T0) for job in (other, slash)),
            now=T0 + 9,
        )
        shared = frozenset({shared_ability("work")})
        first = await scene.claim(T0 + 9, limit=1, abilities=shared)
        assert [claim.id for claim in first] == [ids[0]]
        one = await scene.claim(T0 + 9, abilities=shared, ids=(ids[1], ids[-1]))
        assert [claim.id for claim in one] == [ids[1]]
        own = frozenset({call_ability(PROJECTS[2], "work")})
        rest = await scene.claim(T0 + 9, abilities=shared | own)
        assert [claim.id for claim in rest] == ids[2 : len(jobs)]
        left = await scene.claim(T0 + 9, abilities=frozenset({shared_ability("a/work")}))
        assert [claim.job for claim in left] == [slash]

    async def test_only_the_executions_asked_for(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(*(a_request(job, T0) for _ in range(3)))
        claim = await scene.claim_one(T0, ids=(ids[1],))
        assert claim.id == ids[1]
        assert await scene.claim(T0, ids=(ids[1],)) == []
        assert await scene.claim(T0, ids=()) == []

    async def test_nothing_that_is_not_queued(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, minute(1)))
        assert await scene.claim(minute(1)) == []

    async def test_nothing_past_its_time_to_live(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), expires="1s")
        await scene.run(a_request(job, T0))
        assert await scene.claim(T0 + SECOND) == []
        assert len(await scene.claim(T0 + SECOND - 1)) == 1

    async def test_a_worker_that_never_beat_gets_nothing(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        assert await scene.store.claim(scene.request(T0, "unknown")) == []

    async def test_a_lost_worker_gets_nothing(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        pulse = await scene.beat("w1")
        await scene.store.declare_lost("w1", pulse.beat, T0)
        assert await scene.claim(T0, "w1") == []
        assert len(await scene.claim(T0, "w2")) == 1

    async def test_a_repeated_request_gets_the_same_claims(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(*(a_request(job, T0) for _ in range(3)))
        await scene.beat("w1")
        request = scene.request(T0, limit=2)
        first = await scene.store.claim(request)
        again = await scene.store.claim(replace(request, repeated=True))
        assert sorted(again, key=lambda claim: claim.id) == sorted(first, key=lambda one: one.id)
        assert sorted(await scene.states()) == [State.QUEUED, State.RUNNING, State.RUNNING]

    async def test_a_repeated_request_that_never_arrived_makes_its_claim(
        self, scene: Scene
    ) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        await scene.beat("w1")
        request = scene.request(T0, repeated=True)
        assert len(await scene.store.claim(request)) == 1

    async def test_what_was_parked_and_queued_again_is_claimed_once(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        [id] = await scene.run(a_request(job, T0))
        await scene.settle([id], State.PARKED, T0)
        await scene.settle([id], State.WAITING, T0)
        await scene.promote(T0)
        assert (await scene.claim_one(T0)).attempt == 1

    async def test_what_a_claim_carries_is_the_workers_own(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), payload={"list": [1]})
        await scene.run(a_request(job, T0), a_request(job, T0 + 1), now=T0 + 1)
        first = await scene.claim_one(T0 + 1, limit=1)
        first.payload["list"].append(2)
        second = await scene.claim_one(T0 + 1, limit=1)
        assert second.payload == {"list": [1]}

    async def test_a_claim_ends_with_the_payload_that_brings_it_to_the_bytes(
        self, scene: Scene
    ) -> None:
        job, other = await scene.job(trigger=OnDemand()), await scene.job(trigger=OnDemand())
        payload, late = "x" * 1000, T0 + 10
        runs = [a_request([job, other][n % 2], T0 + n, payload=payload) for n in range(8)]
        ids = await scene.run(*runs, a_request(job, T0 + 8), a_request(job, T0 + 9), now=late)
        first = await scene.claim(late, most_bytes=3000)
        assert [claim.id for claim in first] == ids[:3]
        assert [claim.size for claim in first] == [1002] * 3
        second = await scene.claim(late, most_bytes=1, ids=tuple(ids[4:]))
        assert [claim.id for claim in second] == [ids[4]]
        await scene.fail(first, late, retry=True, delay=0)
        await scene.promote(late)
        again = await scene.claim(late, most_bytes=2000)
        assert [claim.id for claim in again] == [ids[3], ids[5]]
        rest = await scene.claim(late, most_bytes=3007)
        assert [claim.id for claim in rest] == [*ids[6:], *ids[:2]]
        assert [claim.size for claim in rest] == [1002, 1002, 0, 0, 1002, 1002]
        assert (await scene.claim_one(late)).id == ids[2]

    async def test_several_lanes_have_the_bytes_together(self, scene: Scene) -> None:
        mail = await scene.job(trigger=OnDemand(), queue="mail")
        job = await scene.job(trigger=OnDemand())
        runs = [a_request([job, mail][n % 2], T0 + n, payload="x" * 998) for n in range(6)]
        ids = await scene.run(*runs, now=T0 + 5)
        queues = ("default", "mail")
        first = await scene.claim(T0 + 5, most_bytes=3000, limit=5, queues=queues)
        assert [claim.id for claim in first] == ids[:3]
        rest = await scene.claim(T0 + 5, queues=queues)
        assert [claim.id for claim in rest] == ids[3:]

    async def test_who_only_looks_sees_what_a_claim_would_hand_over(self, scene: Scene) -> None:
        mail = await scene.job(trigger=OnDemand(), queue="mail", priority=9)
        job = await scene.job(trigger=OnDemand())
        other = await scene.job(trigger=OnDemand(), target=Call("other"))
        requests = [a_request(each, T0 + n) for n, each in enumerate((job, mail, other, job))]
        ids = await scene.run(*requests, a_request(job, T0 + 600), now=T0 + 3, horizon=1000)
        queues = ("default", "mail")
        request = scene.request(T0 + 3, queues=queues, lead=500)
        found = await scene.store.claimable(request)
        assert [(one.id, one.queue) for one in found] == [
            (ids[1], "mail"),
            (ids[0], "default"),
            (ids[3], "default"),
        ]
        assert [one.rank for one in found] == sorted(one.rank for one in found)
        assert await scene.store.claimable(replace(request, limit=2)) == found[:2]
        assert await scene.store.claimable(replace(request, queues=("mail",))) == found[:1]
        assert await scene.store.claimable(replace(request, queues=())) == []
        assert await scene.store.claimable(replace(request, abilities=frozenset())) == []
        shared = frozenset({shared_ability("work"), "call:other"})
        able = await scene.store.claimable(replace(request, abilities=shared))
        assert {one.id for one in able} == {*ids[:4]}
        claims = await scene.claim(T0 + 3, queues=queues, lead=500)
        assert [claim.id for claim in claims] == [one.id for one in found]
        assert await scene.store.claimable(request) == []

    async def test_what_comes_back_to_the_queue_has_another_rank(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        [before] = await scene.store.claimable(scene.request(T0))
        await scene.fail(await scene.claim(T0), T0 + 5, retry=True, delay=10)
        await scene.promote(T0 + 20)
        [after] = await scene.store.claimable(scene.request(T0 + 20))
        assert after.id == before.id
        assert after.rank > before.rank
