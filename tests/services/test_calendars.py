"""Calendars that jobs share: their days are put into the jobs, and a change saves these anew."""

import random
import sys
from datetime import UTC, date, datetime

import pytest

from tests.services.conftest import TEN, Clock
from tickwell import BusinessDays, Call, Cron, Every
from tickwell.clock import to_datetime
from tickwell.domain.document import job_from_document, job_to_document
from tickwell.domain.job import Job
from tickwell.domain.trigger import AnyOf
from tickwell.errors import Conflict, InvalidInput, InvalidTrigger, NotFound
from tickwell.services.calendars.calendars import Calendars
from tickwell.services.jobs.fire_times import is_edited, stamped
from tickwell.services.jobs.jobs import Jobs
from tickwell.stores.memory import MemoryStore
from tickwell.stores.sqlite import SqliteStore

DAY = 86_400_000


@pytest.fixture(params=["memory", "sqlite"])
async def store(request, tmp_path):
    store = MemoryStore() if request.param == "memory" else SqliteStore(str(tmp_path / "jobs.db"))
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def jobs(store, clock):
    return Jobs(store, clock, random.Random(7), lambda: None)


@pytest.fixture
def calendars(store, jobs):
    return Calendars(store, jobs)


def a_job(trigger=None, name="report", project="default"):
    trigger = trigger or Cron("0 9 * * *", exclude="closed")
    return Job(id="", name=name, project=project, trigger=trigger, target=Call("x"))


def days(fires):
    return [f"{to_datetime(fire):%m-%d}" for fire in fires]


async def test_a_job_fires_by_the_days_of_the_calendar_that_it_names(jobs, calendars):
    await calendars.put("default", "closed", dates=["2026-06-16"], by="ada")
    entry = await jobs.add(a_job())
    assert days(await jobs.next_fires("default", "report", 2)) == ["06-17", "06-18"]
    [found] = entry.job.trigger.exclude
    assert (found.name, found.version, found.dates) == ("closed", 1, (date(2026, 6, 16),))
    slots = dict(entry.job.trigger.excluded(TEN, TEN + 3 * DAY))
    assert set(slots.values()) == {"calendar:closed"}
    assert job_from_document(job_to_document(entry.job)) == entry.job


async def test_an_edit_takes_effect_for_fires_to_come_in_every_form(jobs, calendars):
    await calendars.put("default", "closed", dates=["2026-06-16"], by="ada")
    moved = Cron("0 9 16 6 *", business_days=BusinessDays("next", "closed"))
    shared = AnyOf(Cron("0 9 * * *", exclude="closed"), Cron("0 10 * * *"))
    await jobs.add_many([a_job(), a_job(moved, "moved"), a_job(shared, "some")])
    await jobs.add(a_job(Every("1d"), "other"))
    saved = await calendars.put("default", "closed", dates=["2026-06-17"], by="bob")
    assert (saved.jobs, saved.refused, saved.calendar.version) == (3, {}, 2)
    assert days(await jobs.next_fires("default", "report", 2)) == ["06-16", "06-18"]
    assert days(await jobs.next_fires("default", "moved", 1)) == ["06-16"]
    assert days(await jobs.next_fires("default", "some", 3)) == ["06-16", "06-16", "06-17"]
    assert (await jobs.get("default", "report")).job.version == 2
    assert (await jobs.get("default", "other")).job.version == 1


async def test_a_fire_that_was_planned_by_former_days_is_answered_by_the_version_then(
    jobs, calendars, clock
):
    await calendars.put("default", "closed", dates=["2026-06-16"], by="ada")
    before = await jobs.add(a_job())
    clock.instant = TEN + DAY
    await calendars.put("default", "closed", dates=["2026-06-18"], by="ada")
    after = await jobs.get("default", "report")
    assert after.job.saved_at == clock.instant
    assert days(before.job.trigger.between(TEN, TEN + 3 * DAY)) == ["06-17", "06-18"]
    assert days(after.job.trigger.between(clock.instant, TEN + 3 * DAY)) == ["06-17"]


async def test_a_calendar_that_changes_while_a_job_is_saved_reaches_it(
    jobs, calendars, store, monkeypatch
):
    """Saved between the look at the calendar and the write of the job: nobody would mend it."""
    await calendars.put("default", "closed", dates=["2026-06-16"], by="ada")
    add = store.add_jobs

    async def slowly(*arguments, **more):
        await calendars.put("default", "closed", dates=["2026-06-17"], by="bob")
        return await add(*arguments, **more)

    monkeypatch.setattr(store, "add_jobs", slowly)
    entry = await jobs.add(a_job())
    assert entry.job.trigger.exclude[0].version == 2
    assert days(await jobs.next_fires("default", "report", 2)) == ["06-16", "06-18"]


async def test_the_same_while_a_job_is_edited(jobs, calendars, store, monkeypatch):
    await calendars.put("default", "closed", dates=["2026-06-16"], by="ada")
    entry = await jobs.add(a_job(Every("1d")))
    change = store.change_jobs

    async def slowly(*arguments, **more):
        monkeypatch.setattr(store, "change_jobs", change)
        await calendars.put("default", "closed", dates=["2026-06-17"], by="bob")
        return await change(*arguments, **more)

    monkeypatch.setattr(store, "change_jobs", slowly)
    changed = await jobs.edit("default", "report", a_job(name="report"), entry.job.version)
    assert changed.entry.job.trigger.exclude[0].version == 2


async def test_a_job_that_would_never_fire_keeps_the_former_days_and_is_named(jobs, calendars):
    await calendars.put("default", "closed", dates=["2026-06-16"], by="ada")
    limit = datetime(2026, 7, 1, tzinfo=UTC)
    await jobs.add(a_job(Cron("0 9 * * *", until=limit, start=to_datetime(TEN), exclude="closed")))
    saved = await calendars.put(
        "default", "closed", ranges=[("2026-06-01", "2026-07-31")], by="ada"
    )
    assert saved.jobs == 0
    assert "never fires" in saved.refused["report"]
    assert (await jobs.get("default", "report")).job.trigger.exclude[0].version == 1


async def test_an_unknown_calendar_is_refused_with_how_to_add_it(jobs, calendars):
    with pytest.raises(InvalidTrigger, match="no calendar 'closed' in this project") as caught:
        await jobs.add(a_job())
    assert "tickwell calendars put closed" in caught.value.hint
    await calendars.put("default", "closed", dates=["2026-06-16"], by="ada")
    with pytest.raises(InvalidTrigger, match="no calendar"):
        await jobs.add(a_job(project="another"))


async def test_what_is_written_into_a_document_does_not_count(jobs, calendars):
    await calendars.put("default", "closed", dates=["2026-06-16"], by="ada")
    exclude = [{"name": "closed", "version": 1, "dates": ["2026-06-17"]}]
    document = job_to_document(a_job()) | {"trigger": {"cron": "0 9 * * *", "exclude": exclude}}
    await jobs.add(job_from_document(document))
    assert days(await jobs.next_fires("default", "report", 2)) == ["06-17", "06-18"]


async def test_a_declared_job_is_not_taken_for_edited_when_its_calendar_changes(jobs, calendars):
    await calendars.put("default", "closed", dates=["2026-06-16"], by="ada")
    await jobs.add(stamped(a_job()))
    await calendars.put("default", "closed", dates=["2026-06-17"], by="ada")
    assert not is_edited((await jobs.get("default", "report")).job)


async def test_a_calendar_in_use_is_not_deleted(jobs, calendars):
    await calendars.put("default", "closed", dates=["2026-06-16"], by="ada")
    await jobs.add(a_job())
    with pytest.raises(Conflict, match="is used by report; edit"):
        await calendars.delete("default", "closed")
    await jobs.delete("default", ["report"])
    await calendars.delete("default", "closed")
    with pytest.raises(NotFound):
        await calendars.get("default", "closed")
    assert await calendars.list("default") == []


async def test_the_public_holidays_of_a_country_are_computed_for_ten_years(jobs, calendars):
    saved = await calendars.put("default", "it", country="IT", dates=["2026-06-16"], by="ada")
    assert date(2026, 12, 25) in saved.calendar.holidays
    assert {day.year for day in saved.calendar.holidays} == set(range(2025, 2036))
    await jobs.add(a_job(Cron("0 9 * * *", "Europe/Rome", exclude="it")))
    fires = await jobs.next_fires("default", "report", 250)
    assert not {"12-25", "12-26", "06-16", "01-01"} & set(days(fires))
    bavaria = await calendars.put("default", "by", country="DE", subdivision="BY", by="ada")
    assert date(2027, 1, 6) in bavaria.calendar.holidays


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "dates"),
        ({"dates": ["x"]}, "exclude.dates"),
        ({"country": "XX"}, "country"),
        ({"country": "IT", "subdivision": "ZZ"}, "subdivision"),
        ({"dates": ["2026-06-16"], "subdivision": "BY"}, "subdivision"),
        ({"name": "a b", "dates": ["2026-06-16"]}, "name"),
    ],
)
async def test_what_cannot_be_a_calendar_is_refused(calendars, given, field):
    with pytest.raises(InvalidInput) as caught:
        await calendars.put("default", **({"name": "closed", "by": "ada"} | given))
    assert caught.value.field == field
    assert await calendars.list("default") == []


async def test_two_that_save_at_once_do_not_overwrite_each_other(calendars, store, monkeypatch):
    await calendars.put("default", "closed", dates=["2026-06-16"], by="ada")
    read = store.get_record

    async def late(*arguments):
        found = await read(*arguments)
        monkeypatch.setattr(store, "get_record", read)
        await calendars.put("default", "closed", dates=["2026-06-17"], by="bob")
        return found

    monkeypatch.setattr(store, "get_record", late)
    with pytest.raises(Conflict, match="changed at the same moment"):
        await calendars.put("default", "closed", dates=["2026-06-18"], by="ada")
    assert (await calendars.get("default", "closed")).by == "bob"


async def test_without_the_package_a_country_is_refused_with_the_extra(calendars, monkeypatch):
    monkeypatch.setitem(sys.modules, "holidays", None)
    with pytest.raises(InvalidInput, match=r"tickwell\[holidays\]"):
        await calendars.put("default", "it", country="IT", by="ada")
