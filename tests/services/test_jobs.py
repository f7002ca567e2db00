"""Adding, changing and reading jobs."""

from dataclasses import replace

import pytest

from tickwell.clock import to_datetime
from tickwell.domain.gate import Overlap
from tickwell.domain.job import JobState
from tickwell.domain.policy import HOUR, MINUTE, SECOND, Misfire, OnMisfire, Retention
from tickwell.domain.trigger import Cron, Every, Once, OnDemand
from tickwell.errors import (
    InvalidInput,
    InvalidJob,
    InvalidPayload,
    InvalidTrigger,
    JobExists,
    NotFound,
    VersionConflict,
    WrongState,
)
from tickwell.ports.records import JobFilter

TEN = 1_781_517_600_000
ID = "0197c0de-0000-7000-8000-000000000000"


class TestAdd:
    async def test_a_job_gets_its_id_times_and_cursor(self, world):
        entry = await world.jobs.add(world.job(Every("1m"), version=7))
        assert len(entry.job.id) == 36
        assert (entry.job.created_at, entry.job.saved_at, entry.job.version) == (TEN, TEN, 1)
        assert (entry.cursor.after, entry.cursor.next_fire_time) == (TEN, TEN + MINUTE)
        assert await world.jobs.get("default", "report") == entry
        assert await world.jobs.get("default", entry.job.id) == entry
        assert world.woken == 1

    async def test_an_h_is_bound_to_the_name(self, world):
        first = await world.jobs.add(world.job(Cron("H H * * *"), "a"))
        second = await world.jobs.add(world.job(Cron("H H * * *"), "b"))
        assert "H" not in first.job.trigger.expr
        assert first.job.trigger != second.job.trigger

    async def test_all_or_none(self, world):
        await world.jobs.add(world.job(Every("1m")))
        with pytest.raises(JobExists):
            await world.jobs.add_many([world.job(OnDemand(), "new"), world.job(OnDemand())])
        with pytest.raises(NotFound):
            await world.jobs.get("default", "new")

    async def test_the_same_key_is_the_same_job(self, world):
        first = await world.jobs.add(world.job(OnDemand(), "a", dedupe_key="order-1"))
        again = await world.jobs.add(world.job(OnDemand(), "a", dedupe_key="order-1"))
        assert again.job.id == first.job.id

    @pytest.mark.parametrize(
        ("trigger", "field"),
        [
            (Once(to_datetime(TEN - 11 * SECOND)), "trigger.once"),
            (Every("1m", until=to_datetime(TEN - HOUR)), "trigger"),
        ],
    )
    async def test_what_would_never_fire_is_refused(self, world, trigger, field):
        with pytest.raises(InvalidTrigger) as caught:
            await world.jobs.add(world.job(trigger))
        assert caught.value.field == field
        assert caught.value.hint
        assert world.woken == 0

    async def test_once_within_the_grace_is_taken(self, world):
        entry = await world.jobs.add(world.job(Once(to_datetime(TEN - 5 * SECOND))))
        assert entry.cursor.next_fire_time == TEN - 5 * SECOND

    async def test_a_payload_must_be_json(self, world):
        with pytest.raises(InvalidPayload):
            await world.jobs.add(world.job(OnDemand(), payload={1: 2}))

    @pytest.mark.parametrize("name", [ID, ID.upper(), f"callback-{ID}"])
    async def test_a_name_in_the_form_of_an_id_is_refused(self, world, name):
        with pytest.raises(InvalidJob, match="in the form of") as caught:
            await world.jobs.add(world.job(OnDemand(), name))
        assert caught.value.field == "name"
        assert caught.value.hint
        with pytest.raises(InvalidJob, match="in the form of"):
            await world.jobs.make([world.job(OnDemand(), name)], "default", Retention())

    @pytest.mark.parametrize("name", [ID[:-1], f"{ID}0", f"report {ID}", "callback-report"])
    async def test_a_name_with_an_id_in_it_is_taken(self, world, name):
        assert (await world.jobs.add(world.job(OnDemand(), name))).job.name == name

    @pytest.mark.parametrize(
        ("tags", "reason"),
        [
            (tuple(map(str, range(51))), "50 tags at most, and this one 51"),
            (("x" * 256,), "1 to 255 printable"),
            (("",), "1 to 255 printable"),
            (("a\x07b",), "1 to 255 printable"),
        ],
    )
    async def test_tags_beyond_any_use_are_refused(self, world, tags, reason):
        with pytest.raises(InvalidJob, match=reason) as caught:
            await world.jobs.add(world.job(OnDemand(), tags=tags))
        assert caught.value.field == "tags"

    async def test_fifty_tags_are_taken(self, world):
        tags = tuple(map(str, range(50)))
        assert (await world.jobs.add(world.job(OnDemand(), tags=tags))).job.tags == tags


class TestEdit:
    async def test_more_tags_than_there_may_be_stay_until_they_are_changed(self, world):
        tags = tuple(map(str, range(1000)))
        job = await world.added_before("report", tags=tags)
        assert (await world.jobs.get("default", "report")).job == job
        kept = await world.jobs.edit("default", "report", world.job(Every("1h"), tags=tags))
        assert kept.entry.job.tags == tags
        with pytest.raises(InvalidJob, match="50 tags at most"):
            await world.jobs.edit("default", "report", world.job(Every("1h"), tags=tags[1:]))
        few = await world.jobs.edit("default", "report", world.job(Every("1h"), tags=tags[:2]))
        assert few.entry.job.tags == ("0", "1")

    async def test_a_job_takes_no_name_in_the_form_of_an_id(self, world):
        job = (await world.jobs.add(world.job(OnDemand()))).job
        for name in (ID, f"callback-{job.id}"):
            with pytest.raises(InvalidJob, match="in the form of"):
                await world.jobs.edit("default", "report", world.job(OnDemand(), name))

    async def test_one_that_has_such_a_name_is_read_and_edited(self, world):
        job = await world.added_before(ID)
        assert (await world.jobs.get("default", ID)).job == job
        kept = await world.jobs.edit("default", job.id, world.job(Every("1h"), ID))
        assert kept.entry.job.name == ID
        renamed = await world.jobs.edit("default", job.id, world.job(Every("1h"), "report"))
        assert renamed.entry.job.name == "report"

    async def test_nobody_takes_the_place_of_another_by_its_name(self, world):
        job = (await world.jobs.add(world.job(Every("1m")))).job
        namesake = await world.added_before(job.id)
        (paused,) = await world.jobs.pause("default", [job.id], by="ann")
        assert paused.entry.job.name == "report"
        edited = await world.jobs.edit("default", job.id, world.job(Every("1h")), 1)
        assert edited.entry.job.id == job.id
        await world.jobs.delete("default", [job.id])
        assert (await world.jobs.get("default", namesake.id)).job == namesake
        with pytest.raises(NotFound):
            await world.jobs.get("default", "report")

    async def test_the_version_goes_up(self, world):
        await world.jobs.add(world.job(Every("1m")))
        world.clock.instant = TEN + 30 * SECOND
        changed = await world.jobs.edit("default", "report", world.job(Every("1h"), "new"), 1)
        assert (changed.entry.job.version, changed.entry.job.name) == (2, "new")
        assert changed.entry.job.saved_at == TEN + 30 * SECOND
        assert changed.entry.cursor.next_fire_time == TEN + HOUR
        with pytest.raises(NotFound):
            await world.jobs.get("default", "report")

    async def test_a_stale_edit_is_refused(self, world):
        await world.jobs.add(world.job(Every("1m")))
        await world.jobs.edit("default", "report", world.job(Every("2m")), 1)
        with pytest.raises(VersionConflict):
            await world.jobs.edit("default", "report", world.job(Every("3m")), 1)

    async def test_a_finished_job_keeps_its_trigger(self, world):
        once = Once(to_datetime(TEN + MINUTE))
        await world.jobs.add(world.job(once))
        await world.at(TEN + HOUR)
        changed = await world.jobs.edit("default", "report", world.job(once, description="done"))
        assert changed.entry.cursor.state is JobState.FINISHED
        with pytest.raises(InvalidTrigger):
            await world.jobs.edit("default", "report", world.job(Once(to_datetime(TEN))))


class TestPause:
    async def test_until_someone_resumes(self, world):
        await world.jobs.add_many([world.job(Every("1m"), "a"), world.job(Every("1m"), "b")])
        changed = await world.jobs.pause("default", ["a", "b"], by="ann", why="move")
        assert {each.entry.cursor.state for each in changed} == {JobState.PAUSED}
        assert changed[0].entry.cursor.pause.why == "move"
        (resumed,) = await world.jobs.resume("default", ["a"])
        assert resumed.entry.cursor.state is JobState.ACTIVE
        with pytest.raises(WrongState):
            await world.jobs.resume("default", ["a"])

    async def test_what_was_planned_ahead_is_withdrawn(self, world):
        await world.jobs.add(world.job(Every("1m")))
        await world.at(TEN + 59 * SECOND, horizon=2 * SECOND)
        (changed,) = await world.jobs.pause("default", ["report"], by="ann")
        assert changed.withdrawn == 1

    async def test_requested_runs_wait_for_the_end_of_the_pause(self, world):
        await world.jobs.add(world.job(OnDemand()))
        await world.executions.trigger("default", "report")
        await world.jobs.pause("default", ["report"], by="ann", until=TEN + MINUTE)
        await world.at(TEN + MINUTE - 1)
        assert await world.run() == []
        await world.at(TEN + MINUTE)
        assert len(await world.run()) == 1

    async def test_an_end_in_the_past_is_refused(self, world):
        await world.jobs.add(world.job(Every("1m")))
        with pytest.raises(InvalidInput):
            await world.jobs.pause("default", ["report"], by="ann", until=TEN)

    async def test_one_missing_job_stops_all(self, world):
        await world.jobs.add(world.job(Every("1m")))
        with pytest.raises(NotFound):
            await world.jobs.pause("default", ["report", "nothing"], by="ann")
        assert (await world.jobs.get("default", "report")).cursor.state is JobState.ACTIVE


class TestDelete:
    async def test_the_name_is_free_again(self, world):
        first = await world.jobs.add(world.job(Every("1m")))
        await world.jobs.delete("default", ["report"])
        for key in ("report", first.job.id):
            with pytest.raises(NotFound):
                await world.jobs.get("default", key)
        assert (await world.jobs.add(world.job(Every("1m")))).job.id != first.job.id


class TestNextFires:
    async def fires(self, world, count=3):
        found = await world.jobs.next_fires("default", "report", count)
        return [(fire - TEN) // MINUTE for fire in found]

    async def test_as_many_as_asked_for(self, world):
        await world.jobs.add(world.job(Every("1m")))
        assert await self.fires(world) == [1, 2, 3]

    async def test_what_is_planned_ahead_is_still_to_come(self, world):
        await world.jobs.add(world.job(Every("1m", max_runs=2), overlap=Overlap.ALLOW))
        await world.at(TEN + 59 * SECOND, horizon=2 * SECOND)
        assert await self.fires(world) == [1, 2]

    async def test_a_pause_hides_them(self, world):
        await world.jobs.add(world.job(Every("1m")))
        await world.jobs.pause("default", ["report"], by="ann")
        assert await self.fires(world) == []
        await world.jobs.pause("default", ["report"], by="ann", until=TEN + 5 * MINUTE)
        assert await self.fires(world) == [5, 6, 7]

    async def test_counted_from_the_end_one_is_known(self, world):
        await world.jobs.add(world.job(Every("1m", after="finish")))
        assert await self.fires(world) == [1]
        await world.at(TEN + MINUTE)
        assert await self.fires(world) == []

    async def test_on_demand_has_none(self, world):
        await world.jobs.add(world.job(OnDemand()))
        assert await self.fires(world) == []


async def test_projects_do_not_see_each_other(world):
    await world.jobs.add(world.job(Every("1m"), project="a"))
    await world.jobs.add(world.job(Every("1m"), project="b"))
    page = await world.jobs.list(JobFilter(project="a"))
    assert [entry.job.project for entry in page.items] == ["a"]
    with pytest.raises(NotFound):
        await world.jobs.get("default", "report")


@pytest.mark.parametrize("policy", [OnMisfire.LATEST, OnMisfire.SKIP])
async def test_a_catchup_window_without_effect_is_refused(world, policy):
    window = Misfire(policy=policy, catchup_window="1h")
    with pytest.raises(InvalidJob, match=r"misfire\.catchup_window: has no effect"):
        await world.jobs.add(world.job(OnDemand(), misfire=window))
    entry = await world.jobs.add(
        world.job(OnDemand(), misfire=replace(window, policy=OnMisfire.ALL))
    )
    with pytest.raises(InvalidJob, match="no effect"):
        await world.jobs.edit("default", entry.job.id, replace(entry.job, misfire=window))
