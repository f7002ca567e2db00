"""Changing jobs: atomically, in order, all or nothing for each."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from dataclasses import replace

import pytest

from tickwell.domain.change import Change, delete, edit, pause
from tickwell.domain.document import job_from_document
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Entry, JobState
from tickwell.domain.policy import SECOND
from tickwell.domain.trigger import Every
from tickwell.errors import JobExists, NotFound, VersionConflict, WrongState
from tickwell.testing.contract.builders import T0, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.snapshot import snapshot
from tickwell.testing.contract.topic import Topic


class Changing(Topic):
    """`change_jobs`."""

    async def test_an_edit_is_the_next_version_and_keeps_the_one_before(self, scene: Scene) -> None:
        job = await scene.job("a", payload=1)
        changed = await scene.change(job, edit(replace(job, payload=2), 1), T0 + 5)
        assert (changed.entry.job.version, changed.entry.job.payload) == (2, 2)
        assert changed.entry.job.saved_at == T0 + 5
        [found] = await scene.store.get_jobs("default", [job.id])
        assert found == changed.entry
        [record] = await scene.store.list_records("job_version", "default", f"{job.id}/", T0)
        assert record.key == f"{job.id}/00000001"
        assert job_from_document(record.document) == job

    async def test_an_edit_of_another_version_is_refused(self, scene: Scene) -> None:
        job = await scene.job("a")
        await scene.change(job, edit(job), T0)
        before = await snapshot(scene.store, T0)
        with pytest.raises(VersionConflict):
            await scene.change(job, edit(job, 1), T0)
        assert await snapshot(scene.store, T0) == before

    async def test_a_new_name_must_be_free(self, scene: Scene) -> None:
        a, _ = await scene.job("a"), await scene.job("b")
        before = await snapshot(scene.store, T0)
        with pytest.raises(JobExists):
            await scene.change(a, edit(replace(a, name="b")), T0)
        assert await snapshot(scene.store, T0) == before
        await scene.change(a, edit(replace(a, name="c")), T0)
        [found] = await scene.store.get_jobs("default", ["a", "c"])
        assert found.job.name == "c"
        await scene.job("a")

    async def test_unknown_jobs_and_those_of_others_are_not_found(self, scene: Scene) -> None:
        job = await scene.job("a", project="mine")
        with pytest.raises(NotFound):
            await scene.store.change_jobs("mine", ["nobody"], delete(), T0)
        with pytest.raises(NotFound):
            await scene.store.change_jobs("yours", [job.id], delete(), T0)
        assert (await scene.cursor(job)).state is JobState.ACTIVE

    async def test_several_are_changed_in_order_up_to_the_error(self, scene: Scene) -> None:
        a, b, c = [await scene.job() for _ in range(3)]
        await scene.change(b, delete(), T0)
        with pytest.raises(WrongState):
            await scene.store.change_jobs("default", [a.id, b.id, c.id], pause("ann", "x"), T0)
        states = [(await scene.cursor(job)).state for job in (a, b, c)]
        assert states == [JobState.PAUSED, JobState.DELETED, JobState.ACTIVE]
        changed = await scene.store.change_jobs("default", [c.id, a.id], delete(), T0)
        assert [one.entry.job.id for one in changed] == [c.id, a.id]

    async def test_no_change_changes_nothing(self, scene: Scene) -> None:
        job = await scene.job()
        before = await snapshot(scene.store, T0)

        def nothing(entry: Entry, now: int) -> Change | None:
            assert (entry.job, now) == (job, T0)
            return None

        changed = await scene.change(job, nothing, T0)
        assert (changed.entry.job, changed.withdrawn, changed.cancelling) == (job, 0, 0)
        assert await snapshot(scene.store, T0) == before

    async def test_the_error_of_a_changer_is_raised_and_nothing_changed(self, scene: Scene) -> None:
        job = await scene.job()
        before = await snapshot(scene.store, T0)

        def fails(entry: Entry, now: int) -> Change | None:
            raise ZeroDivisionError(entry, now)

        with pytest.raises(ZeroDivisionError):
            await scene.change(job, fails, T0)
        assert await snapshot(scene.store, T0) == before

    async def test_what_was_due_is_answered_by_the_definition_before(self, scene: Scene) -> None:
        job = await scene.job(overlap=Overlap.ALLOW)
        await scene.change(job, edit(replace(job, trigger=Every("1h"))), minute(3) + 5 * SECOND)
        assert await scene.fire_times(job) == [minute(3)]
        [skip] = await scene.skips(job)
        assert (skip.first, skip.last, skip.count) == (minute(1), minute(2), 2)
        assert (await scene.cursor(job)).next_fire_time == minute(60)
