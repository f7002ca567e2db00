import asyncio
import json
import random

import pytest

from tickwell import Cron, Every
from tickwell.domain.event import Events
from tickwell.domain.fairness import PROJECT_KIND
from tickwell.domain.http import Http
from tickwell.domain.job import Job
from tickwell.engine.liveness.housekeeping import Housekeeping
from tickwell.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    LimitReached,
    NotFound,
    StoreUnavailable,
)
from tickwell.ports.records import JobFilter, Record
from tickwell.services.access.actor import Role
from tickwell.services.alerts.book import CHANNEL, PROJECT, RULE, SILENCE, STATE, begin
from tickwell.services.limits.quota import Quota
from tickwell.services.limits.request_limits import EVERY, Buckets, Rate, RequestLimits
from tickwell.services.monitors.tokens import OWNER, PING_KEY, Owner, Tokens
from tickwell.services.projects.platform import PLATFORM
from tickwell.settings import Settings
from tickwell.testing.clock import ManualClock


def job(trigger, name="ping", **fields):
    target = Http("https://example.com/hook", headers={"X-Token": "{{secret.token}}"})
    return Job(id="", name=name, trigger=trigger, target=target, project="acme", **fields)


async def make(office, service, name="acme"):
    return await service.projects.create(office.owner(), name, title="Acme", admin="ada")


async def test_a_project_has_an_admin_from_the_start(office, service):
    await make(office, service)
    assert await service.members.list(office.actor()) == [("ada", Role.ADMIN)]
    assert [each.name for each in await service.projects.list(office.owner())] == ["acme"]
    with pytest.raises(Conflict):
        await make(office, service)


@pytest.mark.parametrize("name", ["", "_platform", "A", "a b", "-a", "a-", "x" * 64, "ä", "a/b"])
async def test_names_that_nobody_can_choose(office, service, name):
    with pytest.raises(InvalidInput):
        await make(office, service, name)


async def test_an_export_has_definitions_and_no_secret(office, service):
    await make(office, service)
    await service.projects._jobs.add(job(Cron("0 9 * * *")))
    await service.secrets.set(office.actor(), "token", "canary-1234")
    document = await service.projects.export(office.owner(), "acme")
    assert [each["name"] for each in document["jobs"]] == ["ping"]
    assert document["jobs"][0]["saved_at"].endswith("Z")  # as the API has it everywhere
    assert document["members"] == {"ada": "admin"}
    assert document["secrets"] == ["token"]
    text = json.dumps(document)
    assert "{{secret.token}}" in text
    assert "canary" not in text


async def test_a_deleted_project_lets_nobody_in_and_fires_nothing(office, service):
    await make(office, service)
    made = await service.keys.create(office.actor(), "ci", Role.ADMIN)
    await service.secrets.set(office.actor(), "token", "canary-1234")
    for number in range(3):
        await service.projects._jobs.add(job(Every("1h"), f"job{number}"))
    await service.projects.delete(office.owner(), "acme")
    assert await office.open().key_check.find(made.token) is None
    assert await service.directory.read("ada") is None  # who was only ever invited
    assert await service.secrets.list(office.actor()) == []
    assert (await office.store.next_wakeup(office.clock.now())).fire is None
    assert await service.projects.list(office.owner()) == []
    with pytest.raises(NotFound):
        await service.projects.delete(office.owner(), "acme")
    with pytest.raises(Conflict, match="existed before"):
        await make(office, service)


async def test_a_deleted_project_has_no_alerts_and_no_ping_urls(office, service):
    await make(office, service)
    now, tokens = office.clock.now(), Tokens(office.store)
    await begin(office.store, "acme", now)
    for kind in (RULE, SILENCE, CHANNEL, STATE):
        record = Record(kind=kind, project="acme", key="one", document={"to": "ada@example.com"})
        await office.store.put_record(record, now)
    for project in ("acme", "other"):
        await tokens.issue(Owner(project, PING_KEY), f"key of {project}", now)
    await service.projects.delete(office.owner(), "acme")
    for kind in (RULE, SILENCE, CHANNEL, STATE, OWNER):
        assert await office.store.list_records(kind, "acme", "", now) == []
    assert await office.store.get_record(PROJECT, PLATFORM, "acme", now) is None
    assert await tokens.find("key of acme", now) is None
    assert await tokens.find("key of other", now) == Owner("other", PING_KEY)


async def test_a_job_that_comes_while_its_project_is_deleted_fires_nothing(
    office, service, monkeypatch
):
    await make(office, service)
    put = office.store.put_record

    async def meanwhile(record, *asked):
        if record.kind == PROJECT_KIND:
            await service.projects._jobs.add(job(Every("1h")))
        return await put(record, *asked)

    monkeypatch.setattr(office.store, "put_record", meanwhile)
    await service.projects.delete(office.owner(), "acme")
    assert (await office.store.next_wakeup(office.clock.now())).fire is None


async def test_a_job_that_comes_after_its_project_was_deleted_fires_nothing(office, service):
    await make(office, service)
    await service.projects.delete(office.owner(), "acme")
    await service.projects._jobs.add(job(Every("1h")))  # by a process that has not heard of it
    clock = ManualClock(start=office.clock.now())
    keeping = Housekeeping(office.store, clock, Events(), Settings(store="memory://"))
    await keeping.run([])
    assert (await office.store.next_wakeup(office.clock.now())).fire is None


async def test_the_first_project_stays(office, service):
    await service.projects.ensure("default", by="local")
    with pytest.raises(Conflict, match="cannot be deleted"):
        await service.projects.delete(office.owner(), "default")
    assert await service.projects.is_known("default")


async def test_a_deletion_that_breaks_off_is_on_record(office, service, monkeypatch):
    await make(office, service)

    async def gone(*arguments):
        raise StoreUnavailable("gone")

    monkeypatch.setattr(service.projects, "_delete_jobs", gone)
    with pytest.raises(StoreUnavailable):
        await service.projects.delete(office.owner(), "acme")
    (entry, *_) = (await service.audit.list_platform(office.owner())).items
    assert (entry.action, entry.subject) == ("project.delete", "project/acme")


async def test_only_platform_admins(office, service):
    admin = office.actor(Role.ADMIN)
    for call in (
        service.projects.create(admin, "x"),
        service.projects.export(admin, "acme"),
        service.projects.delete(admin, "acme"),
        service.projects.appoint(admin, "acme", "ada"),
        service.limits.set(admin, "acme", Quota()),
    ):
        with pytest.raises(Forbidden):
            await call


async def let_in(service, *asked):
    async with service.limits.room_for(*asked):
        pass


async def test_a_trigger_that_fires_too_often_is_refused_with_the_number(office):
    service = office.open(quota=Quota(fires_per_day=10_000))
    with pytest.raises(LimitReached) as error:
        await let_in(service, office.actor(), [job(Cron("* * * * * *"))])
    assert "this cron would fire 86,400 times a day; your limit is 10,000" in str(error.value)
    assert error.value.retry_after is None
    await let_in(service, office.actor(), [job(Cron("* * * * *"))])


async def test_jobs_and_fires_of_a_project_add_up(office, service):
    await service.limits.set(office.owner(), "acme", Quota(jobs=3, fires_per_day=3000))
    jobs, actor = service.projects._jobs, office.actor()
    async with service.limits.room_for(actor, [job(Every("1m"))]):
        old = (await jobs.add(job(Every("1m")))).job
    with pytest.raises(LimitReached, match="all jobs together would fire 4,320"):
        await let_in(service, actor, [job(Every("30s"), "b")])
    await let_in(service, actor, [job(Every("30s"))], old)
    office.clock.instant += 5000
    few = [job(Every("1d"), f"d{n}") for n in range(3)]
    with pytest.raises(LimitReached, match="3 jobs at most"):
        await let_in(service, actor, few)
    await let_in(service, office.actor(project="other"), few * 10)


async def test_where_a_limit_was_lowered_jobs_may_still_be_edited_to_fire_less(office, service):
    jobs, actor = service.projects._jobs, office.actor()
    old, _ = [(await jobs.add(job(Every("1m"), name))).job for name in "ab"]
    await service.limits.set(office.owner(), "acme", Quota(jobs=1, fires_per_day=2000))
    await let_in(service, actor, [job(Every("1m"), "a", description="why")], old)
    await let_in(service, actor, [job(Every("2m"), "a")], old)
    with pytest.raises(LimitReached, match="all jobs together"):
        await let_in(service, actor, [job(Every("50s"), "a")], old)


async def test_no_more_jobs_come_in_at_once_than_one_after_the_other(office, service):
    await service.limits.set(office.owner(), "acme", Quota(jobs=5))
    jobs, actor = service.projects._jobs, office.actor()

    async def add(name):
        made = job(Every("1m"), name)
        async with service.limits.room_for(actor, [made]):
            await asyncio.sleep(0)
            await jobs.add(made)

    asked = [add(f"j{n}") for n in range(30)] + [add("j0") for _ in range(5)]
    came = await asyncio.gather(*asked, return_exceptions=True)
    assert came.count(None) == 5
    assert len((await jobs.list(JobFilter(project="acme"))).items) == 5


async def test_what_was_let_in_and_came_to_nothing_is_not_counted(office, service):
    await service.limits.set(office.owner(), "acme", Quota(jobs=1))
    service.limits._store = CountsOnce(office.store)
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            async with service.limits.room_for(office.actor(), [job(Every("1m"))]):
                raise StoreUnavailable("gone")
    await let_in(service, office.actor(), [job(Every("1m"))])


class CountsOnce:
    """A store whose jobs are listed once."""

    def __init__(self, store):
        self.store = store
        self.listed = False

    def __getattr__(self, name):
        return getattr(self.store, name)

    async def list_jobs(self, *asked):
        assert not self.listed
        self.listed = True
        return await self.store.list_jobs(*asked)


async def test_payloads_and_requested_runs(office):
    service = office.open(quota=Quota(payload=20, runs_per_minute=5))
    actor = office.actor()
    with pytest.raises(LimitReached, match="21 bytes"):
        await service.limits.check_runs(actor, 1, {"x": "y" * 12})
    await service.limits.check_runs(actor, 5)
    with pytest.raises(LimitReached) as error:
        await service.limits.check_runs(actor, 1)
    assert error.value.retry_after == 12
    await service.limits.check_runs(office.actor(project="other"), 5)


def test_a_bucket_gives_so_many_in_a_window_and_refills_evenly():
    buckets = Buckets(Rate(100, 900_000))
    taken = [buckets.take("a", 0) for _ in range(101)]
    assert [each.allowed for each in taken] == [True] * 100 + [False]
    assert (taken[0].remaining, taken[99].remaining, taken[100].reset) == (99, 0, 9)
    assert buckets.take("b", 0).allowed
    assert not buckets.take("a", 8_999).allowed
    assert buckets.take("a", 9_000).allowed
    assert buckets.take("a", 10**9).remaining == 99


def ask_as_stranger(limits):
    asked = limits.stranger("192.0.2.1")
    assert asked is not None
    return asked


async def test_requests_without_a_key_are_few(office):
    limits = RequestLimits(office.clock, without_key=100, with_key=0)
    assert all(ask_as_stranger(limits).allowed for _ in range(100))
    with pytest.raises(LimitReached, match="100 requests in 900 s"):
        ask_as_stranger(limits).require()
    left = limits.stranger("192.0.2.2")
    assert left is not None
    assert left.remaining == 99
    assert limits.known("key:x") is None


async def test_several_processes_count_requests_together(office):
    one, other, late = (RequestLimits(office.clock, without_key=100, with_key=0) for _ in range(3))
    one.share(office.store, random.Random(1))
    other.share(office.store, random.Random(2))

    async def ask(limits, count):
        found = []
        for _ in range(count):
            await limits.exchange()
            found.append(ask_as_stranger(limits).allowed)
        office.clock.instant += EVERY
        await limits.exchange()
        return found.count(True)

    assert await ask(one, 60) == 60
    # The first tenth is not told: most never get further.
    assert await ask(other, 60) == 50
    assert await ask(one, 60) == 0
    late.share(office.store, random.Random(3))
    assert await ask(late, 60) == 0
    office.clock.instant += 16 * 60_000
    assert [await ask(limits, 1) for limits in (one, other, late)] == [1, 1, 1]


async def test_a_store_that_is_away_stops_no_request(office, monkeypatch):
    limits = RequestLimits(office.clock, without_key=2, with_key=0)
    limits.share(office.store, random.Random(1))

    async def away(*_):
        raise StoreUnavailable("gone")

    monkeypatch.setattr(office.store, "list_records", away)
    for allowed in (True, True, False):
        await limits.exchange()
        assert ask_as_stranger(limits).allowed is allowed
        office.clock.instant += EVERY
