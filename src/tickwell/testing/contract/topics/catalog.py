"""The catalog: jobs by id and name, added all or none, listed in pages."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tickwell.clock import to_datetime
from tickwell.domain.change import delete, edit, pause
from tickwell.domain.job import Cursor, Entry, Job, JobState
from tickwell.domain.planning import first_cursor
from tickwell.domain.trigger import Once, OnDemand
from tickwell.errors import InvalidInput, JobExists, JobIdTaken
from tickwell.ports.records import JobFilter
from tickwell.testing.contract.builders import T0, a_job, fresh_id, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.snapshot import snapshot
from tickwell.testing.contract.topic import Topic


async def _names(scene: Scene, **where: Any) -> list[str]:
    page = await scene.store.list_jobs(JobFilter(**where))
    return [entry.job.name for entry in page.items]


class Adding(Topic):
    """`add_jobs` and `get_jobs`."""

    async def test_what_was_added_is_found_by_id_and_by_name(self, scene: Scene) -> None:
        job = a_job("report", payload={"to": ["a"]}, tags=("x", "y"))
        cursor = Cursor(next_fire_time=minute(7), after=T0, runs=3, failures=2)
        [added] = await scene.store.add_jobs([Entry(job, cursor)], T0)
        assert added == Entry(job, cursor)
        found = await scene.store.get_jobs("default", ["report", job.id])
        assert found == [added, added]

    async def test_they_come_in_the_order_asked_for_without_the_missing(self, scene: Scene) -> None:
        a, b = await scene.job("a"), await scene.job("b")
        found = await scene.store.get_jobs("default", ["b", "nobody", a.id])
        assert [entry.job for entry in found] == [b, a]
        assert await scene.store.get_jobs("default", []) == []

    async def test_another_project_does_not_see_them(self, scene: Scene) -> None:
        job = await scene.job("a", project="mine")
        assert await scene.store.get_jobs("yours", ["a", job.id]) == []
        await scene.job("a", project="yours")
        [found] = await scene.store.get_jobs("mine", ["a"])
        assert found.job == job

    async def test_an_id_wins_over_a_name(self, scene: Scene) -> None:
        job = await scene.job("a")
        namesake = await scene.job(job.id)
        found = await scene.store.get_jobs("default", [job.id, "a", namesake.id])
        assert [entry.job for entry in found] == [job, job, namesake]
        await scene.change(job, delete(), T0)
        [gone] = await scene.store.get_jobs("default", [job.id])
        assert (gone.job.name, gone.cursor.state) == ("a", JobState.DELETED)

    async def test_the_id_of_a_job_of_another_project_is_a_name_like_others(
        self, scene: Scene
    ) -> None:
        theirs = await scene.job("a", project="yours")
        mine = await scene.job(theirs.id, project="mine")
        [found] = await scene.store.get_jobs("mine", [theirs.id])
        assert found.job == mine
        [found] = await scene.store.get_jobs("yours", [theirs.id])
        assert found.job == theirs

    async def test_a_name_can_be_taken_once(self, scene: Scene) -> None:
        await scene.job("a")
        with pytest.raises(JobExists, match="'a'"):
            await scene.job("a")

    async def test_all_or_none(self, scene: Scene) -> None:
        await scene.job("b")
        before = await snapshot(scene.store, T0)
        with pytest.raises(JobExists):
            await scene.add(a_job("a"), a_job("b"))
        with pytest.raises(JobExists):
            await scene.add(a_job("c"), a_job("c"))
        assert await snapshot(scene.store, T0) == before
        assert (await scene.fire(minute(1))).jobs == 1
        await scene.add(a_job("a"), a_job("c"))

    async def test_the_same_id_again_is_the_same_job(self, scene: Scene) -> None:
        job = a_job("a")
        await scene.add(job)
        await scene.fire(minute(1))
        before = await snapshot(scene.store, minute(1))
        [again] = await scene.add(job, now=minute(1))
        assert again.cursor.next_fire_time == minute(2)
        assert await snapshot(scene.store, minute(1)) == before
        assert len(await scene.add(job, job)) == 2

    async def test_the_id_of_a_job_of_another_project_is_refused(self, scene: Scene) -> None:
        theirs = await scene.job("theirs", project="one")
        before = await snapshot(scene.store, T0)
        with pytest.raises(JobIdTaken, match=theirs.id):
            await scene.add(a_job("a", project="two"), a_job("b", project="two", id=theirs.id))
        new = a_job("c", project="one")
        with pytest.raises(JobIdTaken, match=new.id):
            await scene.add(new, replace(new, project="two"))
        assert await snapshot(scene.store, T0) == before

    async def test_a_known_dedupe_key_answers_with_its_job(self, scene: Scene) -> None:
        first = await scene.job("a", dedupe_key="order-1")
        [again] = await scene.add(a_job("b", dedupe_key="order-1"))
        assert again.job == first
        [other] = await scene.add(a_job("a", project="other", dedupe_key="order-1"))
        assert other.job.id != first.id
        assert await _names(scene, project="default") == ["a"]

    async def test_a_dedupe_key_counts_within_one_batch(self, scene: Scene) -> None:
        one, two = a_job("a", dedupe_key="k"), a_job("a", dedupe_key="k")
        first, second = await scene.add(one, two)
        assert first.job == second.job == one

    async def test_a_dedupe_key_holds_until_the_job_is_pruned(self, scene: Scene) -> None:
        job = await scene.job("a", dedupe_key="k", trigger=OnDemand())
        await scene.change(job, edit(replace(job, dedupe_key=None)), T0)
        await scene.change(job, delete(), T0)
        [known] = await scene.add(a_job("b", dedupe_key="k"))
        assert (known.job.id, known.cursor.state) == (job.id, JobState.DELETED)
        await scene.store.prune(T0, 100)
        [new] = await scene.add(a_job("c", dedupe_key="k"))
        assert new.job.name == "c"

    async def test_a_deleted_name_is_free_again(self, scene: Scene) -> None:
        old = await scene.job("a")
        await scene.change(old, delete(), T0)
        new = await scene.job("a")
        [found] = await scene.store.get_jobs("default", ["a"])
        assert found.job == new
        [gone] = await scene.store.get_jobs("default", [old.id])
        assert gone.cursor.state is JobState.DELETED
        await scene.change(old, delete(), T0)
        assert len(await scene.store.get_jobs("default", ["a"])) == 1

    async def test_a_job_that_is_returned_is_the_callers_own(self, scene: Scene) -> None:
        payload = {"list": [1]}
        job = await scene.job("a", payload=payload)
        payload["list"].append(2)
        [found] = await scene.store.get_jobs("default", [job.id])
        found.job.payload["list"].append(3)
        found.cursor = Cursor()
        page = await scene.store.list_jobs(JobFilter())
        page.items[0].job.payload["list"].append(4)
        [again] = await scene.store.get_jobs("default", [job.id])
        assert again.job.payload == {"list": [1]}
        assert again.cursor.next_fire_time == minute(1)


class Listing(Topic):
    """`list_jobs`."""

    async def test_by_project_and_name(self, scene: Scene) -> None:
        for project, name in (("b", "x"), ("a", "z"), ("a", "y"), ("b", "a")):
            await scene.job(name, project=project)
        assert await _names(scene) == ["y", "z", "a", "x"]
        assert await _names(scene, project="b") == ["a", "x"]

    async def test_in_pages_without_gap_or_repetition(self, scene: Scene) -> None:
        names = [f"job {number:03}" for number in range(25)]
        await scene.add(*(a_job(name) for name in reversed(names)))
        seen: list[str] = []
        cursor = None
        while True:
            page = await scene.store.list_jobs(JobFilter(), cursor, limit=10)
            assert len(page.items) <= 10
            seen += [entry.job.name for entry in page.items]
            cursor = page.cursor
            if cursor is None:
                break
        assert seen == names

    async def test_a_full_last_page_of_jobs_is_the_end(self, scene: Scene) -> None:
        await scene.add(a_job("a"), a_job("b"))
        page = await scene.store.list_jobs(JobFilter(), limit=2)
        assert (len(page.items), page.cursor) == (2, None)
        empty = await scene.store.list_jobs(JobFilter(project="nobody"), limit=2)
        assert (empty.items, empty.cursor) == ([], None)

    async def test_by_state(self, scene: Scene) -> None:
        await scene.job("active")
        paused = await scene.job("paused")
        await scene.change(paused, pause("ann", "wait"), T0)
        deleted = await scene.job("deleted")
        await scene.change(deleted, delete(), T0)
        finished = a_job("finished", trigger=OnDemand())
        cursor = Cursor(state=JobState.FINISHED)
        await scene.store.add_jobs([Entry(finished, cursor)], T0)
        assert await _names(scene) == ["active", "finished", "paused"]
        for state in JobState:
            assert await _names(scene, states=frozenset({state})) == [state.value]

    async def test_by_queue_app_tag_and_auto_remove(self, scene: Scene) -> None:
        await scene.job("a", queue="mail", tags=("x", "y"))
        await scene.job("b", app="shop", tags=("y",))
        await scene.job("c", auto_remove=True)
        assert await _names(scene, queue="mail") == ["a"]
        assert await _names(scene, app="shop") == ["b"]
        assert await _names(scene, tag="y") == ["a", "b"]
        assert await _names(scene, tag="x") == ["a"]
        assert await _names(scene, auto_remove=True) == ["c"]
        assert await _names(scene, auto_remove=False) == ["a", "b"]
        assert await _names(scene, tag="y", queue="mail", app=None) == ["a"]

    async def test_by_a_part_of_the_name(self, scene: Scene) -> None:
        for name in ("Daily Report", "100%", "a_b", "axb", "è vero"):
            await scene.job(name)
        assert await _names(scene, search="report") == ["Daily Report"]
        assert await _names(scene, search="REPORT") == ["Daily Report"]
        assert await _names(scene, search="%") == ["100%"]
        assert await _names(scene, search="a_b") == ["a_b"]
        assert await _names(scene, search="è") == ["è vero"]

    async def test_a_list_that_looks_at_few_at_a_time_finds_all(self, scene: Scene) -> None:
        for number in range(7):
            await scene.job(f"job-{number}", tags=("odd",) if number % 2 else ())
        await scene.job("job-1", project="other", tags=("odd",))
        where = JobFilter(project="default", tag="odd", look=2)
        assert await _paged(scene, where) == ["job-1", "job-3", "job-5"]

    async def test_finished_jobs_to_be_removed_are_found_page_by_page(self, scene: Scene) -> None:
        finished = Cursor(state=JobState.FINISHED, after=T0)
        for number in range(7):
            job = a_job(f"job-{number}", auto_remove=number != 3)
            cursor = finished if number % 2 else Cursor(next_fire_time=minute(1), after=T0)
            await scene.store.add_jobs([Entry(job, cursor)], T0)
        states = frozenset({JobState.FINISHED})
        where = JobFilter(states=states, auto_remove=True, look=2)
        assert await _paged(scene, where) == ["job-1", "job-5"]

    async def test_the_soonest_first(self, scene: Scene) -> None:
        for name, at in (("c", 3), ("a", 9), ("b", 3), ("d", 5), ("e", 7)):
            cursor = Cursor(next_fire_time=minute(at), after=T0)
            await scene.store.add_jobs([Entry(a_job(name), cursor)], T0)
        other = a_job("other", project="other")
        await scene.store.add_jobs([Entry(other, Cursor(next_fire_time=minute(1), after=T0))], T0)
        await scene.job("never", trigger=OnDemand())
        where = JobFilter(project="default", fires_before=minute(7))
        found: list[Entry] = []
        cursor_text = None
        for _ in range(2):
            page = await scene.store.list_jobs(where, cursor_text, limit=2)
            found, cursor_text = found + page.items, page.cursor
        assert cursor_text is None
        assert [entry.cursor.next_fire_time for entry in found] == [
            minute(at) for at in (3, 3, 5, 7)
        ]
        assert {entry.job.name for entry in found} == {"b", "c", "d", "e"}

    @pytest.mark.parametrize(
        "cursor",
        [
            "",
            "nonsense",
            "{}",
            "[1, 2, 3]",
            '[{"$regex": "(a+)+$"}, {"$gt": ""}, "x"]',
            '["default", "a", null]',
            '[{"$gt": 0}, "x"]',
            '[true, "x"]',
            "soon\0x",
            f"{'9' * 30}\0x",
            "\0\0\0\0",
        ],
    )
    async def test_a_cursor_that_no_list_of_jobs_gave_is_refused(
        self, scene: Scene, cursor: str
    ) -> None:
        await scene.job("a")
        for where in (JobFilter(), JobFilter(fires_before=minute(7)), JobFilter(tag="x", look=2)):
            with pytest.raises(InvalidInput, match="cursor"):
                await scene.store.list_jobs(where, cursor)

    async def test_deleted_jobs_of_one_name_are_all_listed(self, scene: Scene) -> None:
        for _ in range(3):
            await scene.change(await scene.job("a"), delete(), T0)
        gone = frozenset({JobState.DELETED})
        assert await _names(scene, states=gone) == ["a", "a", "a"]
        first = await scene.store.list_jobs(JobFilter(states=gone), limit=2)
        rest = await scene.store.list_jobs(JobFilter(states=gone), first.cursor, limit=2)
        assert len({entry.job.id for entry in first.items + rest.items}) == 3

    async def test_a_cursor_carries_all_its_fields(self, scene: Scene) -> None:
        job = Job(id=fresh_id(), name="late", trigger=a_job().trigger, target=a_job().target)
        cursor = replace(
            first_cursor(job, T0), nudged=True, paused_through=T0 + 5, failures=4, runs=9
        )
        await scene.store.add_jobs([Entry(job, cursor)], T0)
        page = await scene.store.list_jobs(JobFilter())
        assert page.items == [Entry(job, cursor)]

    async def test_every_kind_of_trigger_is_kept(self, scene: Scene) -> None:
        job = await scene.job("once", trigger=Once(to_datetime(minute(5) + 123)))
        [found] = await scene.store.get_jobs("default", ["once"])
        assert found.job == job


async def _paged(scene: Scene, where: JobFilter) -> list[str]:
    """The names of all jobs of a list that is read two at a time."""
    page = await scene.store.list_jobs(where, limit=2)
    found = page.items
    while page.cursor is not None:
        page = await scene.store.list_jobs(where, page.cursor, limit=2)
        found += page.items
    return [entry.job.name for entry in found]
