"""Health finds what keeps jobs from running, in a store that tests have put into every state."""

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count

import pytest

from tests.services.conftest import TEN, WORKER, Clock, World
from tests.unit.engine.rig import LoopClock, virtually
from tickwell import Call, Cron, Every, Http, OnDemand
from tickwell.clock import to_datetime
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.health import Level, LinkState, ProcessHealth
from tickwell.domain.health.facts import LATE, WAITS_LONG
from tickwell.domain.queue import PAUSE_KIND, PAUSE_PROJECT
from tickwell.domain.worker import Worker
from tickwell.errors import StoreUnavailable
from tickwell.ports.records import ExecutionFilter, Flaw, Record
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.calendars.calendars import Calendars
from tickwell.services.health import CALENDARS, SAMPLE, TTL, HealthReader, Link
from tickwell.services.insights import overview
from tickwell.services.jobs.fire_times import GONE
from tickwell.settings import Settings
from tickwell.stores.memory import MemoryStore

MINUTE = 60_000
DAY = 86_400_000
ALL = replace(WORKER, roles=("planner", "worker"))
ADMIN = Actor(name="ada", project="default", permissions=frozenset(Permission))
TENANT = replace(ADMIN, permissions=frozenset({Permission.READ}))


class Moving(Clock):
    """Its seconds pass with its instants."""

    def monotonic(self):
        return self.instant / 1000


@pytest.fixture
def clock():
    return Moving()


@pytest.fixture
async def store(clock):
    store = MemoryStore(wall=clock.now)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def world(store, clock):
    return World(store, clock)


async def look(world, actor=ADMIN, *, skew=0, links=()):
    reader = HealthReader(world.store, world.clock)
    reader.wall = lambda: world.clock.now() + skew
    reader.links = links
    health = await reader.of(actor)
    return {each.check: each for each in health.findings}


async def late(world, **fields):
    """An execution that has been due for so long that it is reported."""
    await world.jobs.add(world.job(OnDemand(), **fields))
    await world.executions.trigger("default", "report")
    await world.store.promote(TEN, 0, 10)
    world.clock.instant += LATE + 1000


async def test_a_lost_index_is_red_and_all_that_is_told(clock):
    class Flawed(MemoryStore):
        async def flaws(self):
            return [Flaw("the index claim is missing", "Make it")]

    [found] = (await HealthReader(Flawed(), clock).of(ADMIN)).findings
    assert (found.check, found.level) == ("indexes", Level.RED)
    assert (found.text, found.remedy) == ("the index claim is missing", "Make it")


async def test_a_system_that_works_is_green(world):
    await world.jobs.add(world.job(Every("1m")))
    await world.store.beat(ALL, TEN)
    assert {each.level for each in (await look(world)).values()} == {Level.GREEN}


async def test_a_busy_system_with_a_backlog_is_green(world):
    """Full slots, a backlog of seconds and beats that are almost missed are no fault."""
    await world.jobs.add(world.job(OnDemand()))
    for _ in range(150):
        await world.executions.trigger("default", "report")
    await world.store.promote(TEN, 0, 1000)
    await world.store.beat(replace(ALL, busy=99), TEN)
    world.clock.instant += min(WAITS_LONG, 2 * ALL.beat_every)
    assert {each.level for each in (await look(world)).values()} == {Level.GREEN}


async def test_an_idle_store_without_processes_is_amber(world):
    found = await look(world)
    assert found["workers"].level is Level.AMBER
    assert (found["store"].level, found["planner"].level) == (Level.GREEN, Level.GREEN)


async def test_jobs_without_processes_are_amber_until_one_is_due(world):
    await world.jobs.add(world.job(Every("1m")))
    found = await look(world)
    assert (found["planner"].level, found["workers"].level) == (Level.AMBER, Level.AMBER)
    assert found["planner"].text == "no planner is alive; the next fire time is in 1m"
    world.clock.instant += MINUTE + 2000
    found = await look(world)
    assert found["planner"].level is Level.AMBER
    assert found["planner"].text == "no planner is alive, and a fire time is due"
    world.clock.instant += LATE - 1000
    found = await look(world)
    assert (found["planner"].level, found["workers"].level) == (Level.RED, Level.RED)
    assert "overdue for 9s" in found["planner"].text


async def test_a_planner_that_misses_beats_is_not_alive(world):
    await world.jobs.add(world.job(Every("1s")))
    await world.store.beat(ALL, TEN)
    world.clock.instant += 2 * ALL.beat_every
    found = (await look(world))["planner"]
    assert (found.level, "although a planner is alive" in found.text) == (Level.AMBER, True)
    world.clock.instant += 1
    assert (await look(world))["planner"].level is Level.RED


async def test_a_requested_run_waits_for_a_planner_as_well(world):
    await world.jobs.add(world.job(OnDemand()))
    await world.executions.trigger("default", "report", run_at=TEN + MINUTE)
    world.clock.instant += MINUTE + LATE + 1000
    await world.store.beat(WORKER, world.clock.now())
    found = (await look(world))["planner"]
    assert (found.level, "a requested run or retry has been overdue for 9s" in found.text) == (
        Level.RED,
        True,
    )


async def test_a_worker_is_no_planner_and_a_planner_no_worker(world):
    await late(world)
    await world.jobs.add(world.job(Every("1s"), name="often"))
    world.clock.instant += LATE + 2000
    planner = replace(WORKER, id="p", roles=("planner",), queues=(), abilities=(), capacity=0)
    await world.store.beat(planner, world.clock.now())
    found = await look(world)
    assert (found["planner"].level, found["workers"].level) == (Level.AMBER, Level.RED)
    await world.store.beat(planner, world.clock.now(), leaving=True)
    await world.store.beat(WORKER, world.clock.now())
    found = await look(world)
    assert (found["planner"].level, found["workers"].level) == (Level.RED, Level.GREEN)


async def test_a_queue_that_no_worker_serves_is_named(world):
    await late(world, queue="mail")
    await world.store.beat(ALL, world.clock.now())
    found = (await look(world))["queues"]
    assert found.level is Level.RED
    assert found.text == "1 execution is waiting: no live worker serves queue 'mail'"
    assert found.remedy.endswith("TICKWELL_QUEUES=mail tickwell serve")


async def crowd(world, **fields):
    """More late executions of a lane than one look reads."""
    await world.jobs.add(world.job(OnDemand(), name="crowd", **fields))
    for _ in range(SAMPLE + 50):
        await world.executions.trigger("default", "crowd")
    await world.store.promote(world.clock.now(), 0, 1000)
    world.clock.instant += LATE + 1000


async def test_a_crowd_in_a_queue_that_is_served_hides_no_queue_that_is_not(world):
    await late(world, queue="mail")
    await crowd(world)
    await world.store.beat(ALL, world.clock.now())
    for actor in (ADMIN, TENANT):
        found = (await look(world, actor))["queues"]
        assert found.level is Level.RED
        assert found.text == "1 execution is waiting: no live worker serves queue 'mail'"


async def test_a_crowd_of_a_known_handler_hides_no_handler_that_is_unknown(world):
    await late(world)
    await crowd(world, target=Call("y"))
    await world.store.beat(replace(ALL, abilities=("call:*/y",)), world.clock.now())
    found = (await look(world))["handlers"]
    assert (found.level, "knows handler 'x'" in found.text) == (Level.RED, True)


async def test_a_crowd_of_parked_work_hides_no_other_lane(world):
    await late(world, queue="mail")
    await crowd(world, target=Call("y"))
    queued = ExecutionFilter(states=frozenset({State.QUEUED}))
    ids = [each.id for each in (await world.store.list_executions(queued, limit=1000)).items]
    await world.store.settle(ids, {State.QUEUED}, State.PARKED, "", world.clock.now())
    await world.store.beat(ALL, world.clock.now())
    found = await look(world)
    assert found["handlers"].text.startswith(f"{SAMPLE} or more executions are waiting")
    assert "queue 'mail'" in found["queues"].text


async def test_a_crowd_that_no_worker_serves_hides_no_want_of_capacity(world):
    await late(world)
    await crowd(world, queue="mail")
    world.clock.instant += WAITS_LONG
    await world.store.beat(ALL, world.clock.now())
    reader = HealthReader(world.store, world.clock)
    told = [each.text for each in (await reader.of(ADMIN)).findings if each.check == "queues"]
    assert told[0].endswith("no live worker serves queue 'mail'")
    assert "waiting for free capacity" in told[1]


async def test_webhooks_of_another_project_in_the_same_queue_are_not_told(world):
    await late(world, queue="mail", target=Http("https://example.com/"))
    await world.store.beat(ALL, world.clock.now())
    assert "queue 'mail'" in (await look(world, TENANT))["queues"].text
    assert "queues" not in await look(world, replace(TENANT, project="other"))


async def test_many_queues_without_a_worker_are_summed_up(world):
    for n in range(25):
        await world.jobs.add(world.job(OnDemand(), name=f"job-{n}", queue=f"queue-{n}"))
        await world.executions.trigger("default", f"job-{n}")
    await world.store.promote(TEN, 0, 1000)
    world.clock.instant += LATE + 1000
    await world.store.beat(ALL, world.clock.now())
    reader = HealthReader(world.store, world.clock)
    told = [each.text for each in (await reader.of(ADMIN)).findings if each.check == "queues"]
    assert len(told) == 6
    assert told[-1] == "20 more queues or handlers have due work and no live worker"


async def test_a_handler_that_no_worker_knows_is_named(world):
    await late(world)
    await world.store.beat(replace(ALL, abilities=("call:*/y",)), world.clock.now())
    found = (await look(world))["handlers"]
    assert (found.level, "knows handler 'x'" in found.text) == (Level.RED, True)
    assert found.remedy.endswith("tickwell serve --app module:scheduler")


async def test_parked_work_is_told_until_a_worker_can_run_it(world):
    await world.jobs.add(world.job(OnDemand()))
    waiting = await world.executions.trigger("default", "report")
    states = {State.QUEUED, State.WAITING}
    await world.store.settle([waiting.id], states, State.PARKED, "x", TEN)
    await world.store.beat(replace(ALL, abilities=()), TEN)
    assert (await look(world))["handlers"].level is Level.RED
    await world.store.beat(ALL, TEN)
    assert "handlers" not in await look(world)


async def test_the_overview_says_of_parked_work_what_health_says(world):
    """It was parked while no worker was there at all, and those of now lack its handler."""
    await late(world)
    parked = "no live worker serves queue 'default'"
    page = await world.store.list_executions(ExecutionFilter(project="default"), limit=1)
    ids = [each.id for each in page.items]
    await world.store.settle(ids, {State.QUEUED}, State.PARKED, parked, world.clock.now())
    (note,) = (await overview.look(world.store, "default", world.clock.now())).attention
    assert note.text == parked
    await world.store.beat(replace(ALL, abilities=("call:*/y",)), world.clock.now())
    (note,) = (await overview.look(world.store, "default", world.clock.now())).attention
    assert note.text == "no live worker knows handler 'x'"
    assert (await look(world))["handlers"].text.endswith(note.text)


async def test_a_paused_queue_is_amber_only_with_a_backlog(world):
    note = {"by": "ada", "why": "lunch", "since": TEN}
    pause = Record(kind=PAUSE_KIND, project=PAUSE_PROJECT, key="default", document=note)
    await world.store.put_record(pause, TEN)
    await world.store.beat(ALL, TEN)
    assert (await look(world))["paused_queues"].level is Level.GREEN
    await late(world)
    world.clock.instant += MINUTE
    await world.store.beat(ALL, world.clock.now())
    found = await look(world)
    assert "queues" not in found  # more workers would not help
    told = found["paused_queues"]
    assert told.level is Level.AMBER
    assert told.text == "queue default is paused (lunch), and 1 execution is due in it"
    assert told.remedy.endswith("tickwell queues resume default")


async def test_workers_that_are_too_few(world):
    await late(world)
    world.clock.instant += MINUTE
    await world.store.beat(ALL, world.clock.now())
    assert (await look(world))["queues"].level is Level.AMBER


async def test_dead_letters_are_counted(world):
    await world.jobs.add(world.job(OnDemand()))
    await world.executions.trigger("default", "report")
    await world.store.promote(TEN, 0, 10)
    await world.run(OutcomeKind.FAILED, retry=False)
    found = (await look(world))["dead_letters"]
    assert (found.level, found.text) == (Level.AMBER, "1 dead letter needs attention")


async def calendar(world, name="closed", **days):
    """A calendar, and a job that uses it."""
    await Calendars(world.store, world.jobs).put("default", name, by="ada", **days)
    await world.jobs.add(world.job(Cron("0 9 * * *", exclude=name), name=f"by-{name}"))


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (-1, "calendar closed ended on 2026-06-14; jobs that use it fire on later days"),
        (0, "calendar closed ends on 2026-06-15; jobs that use it fire on later days"),
        (60, "calendar closed ends on 2026-08-14; jobs that use it fire on later days"),
        (61, None),
    ],
)
async def test_a_calendar_that_runs_out_is_told_from_sixty_days_before(world, last, said):
    day = to_datetime(TEN).date() + timedelta(days=last)
    await calendar(world, dates=[day])
    found = (await look(world, TENANT)).get("calendars")
    if said is None:
        assert found is None
    else:
        assert (found.level, found.text) == (Level.AMBER, said)
        assert found.remedy == "Save it with new dates: tickwell calendars put closed --date …"


async def test_a_calendar_of_a_country_that_runs_out_is_to_be_renewed(world):
    await calendar(world, country="IT", dates=["2099-01-01"])
    assert "calendars" not in await look(world)
    world.clock.instant += 10 * 365 * DAY
    found = (await look(world))["calendars"]
    assert found.text == "calendar closed ended on 2035-12-26; jobs that use it fire on later days"
    assert found.remedy == "Add the years to come: tickwell calendars renew closed"


async def test_a_calendar_that_may_end_is_not_told(world):
    await calendar(world, "shutdown", ranges=[("2026-06-01", "2026-07-01")])
    await calendar(world, "paused", dates=["2026-07-01"])
    await world.jobs.pause("default", ["by-paused"], by="ada")
    calendars = Calendars(world.store, world.jobs)
    await calendars.put("default", "unused", dates=["2026-07-01"], by="ada")
    await calendars.put("other", "foreign", dates=["2026-07-01"], by="ada")
    assert "calendars" not in await look(world)


async def test_of_many_calendars_that_run_out_some_are_named(world):
    for number in range(7):
        await calendar(world, f"closed-{number}", dates=["2026-07-01"])
    found = [each for each in (await HealthReader(world.store, world.clock).of(ADMIN)).findings
             if each.check == "calendars"]  # fmt: skip
    assert len(found) == 6
    assert found[-1].text == "2 more calendars end soon"


async def test_calendars_are_read_once_a_minute(world):
    await calendar(world, dates=["2026-07-01"])
    reader = HealthReader(world.store, world.clock)
    assert "calendars" in {each.check for each in (await reader.of(ADMIN)).findings}
    await calendar(world, "more", dates=["2026-07-01"])
    world.clock.instant += int(CALENDARS * 1000) - 1
    checks = [each.check for each in (await reader.of(ADMIN)).findings]
    assert checks.count("calendars") == 1
    world.clock.instant += int(TTL * 1000)
    checks = [each.check for each in (await reader.of(ADMIN)).findings]
    assert checks.count("calendars") == 2


@pytest.mark.parametrize(
    ("skew", "said"), [(1500, "1.5s ahead of the store's"), (-2000, "2s behind the store's")]
)
async def test_a_clock_that_is_off_by_more_than_a_second_is_told(world, skew, said):
    assert (await look(world, skew=1000))["clock"].level is Level.GREEN
    found = (await look(world, skew=skew))["clock"]
    assert (found.level, said in found.text) == (Level.AMBER, True)


async def test_the_clock_of_every_live_process_is_compared(world):
    await world.store.beat(replace(ALL, host="far", clock_offset=5000), TEN)
    assert "host far is 5s ahead" in (await look(world))["clock"].text
    assert "a host is 5s ahead" in (await look(world, TENANT))["clock"].text


async def test_jobs_that_another_program_may_have_paused_are_named(world):
    await world.jobs.add(world.job(Every("1m")))
    assert "declared_jobs" not in await look(world)
    entry = await world.jobs.get("default", "report")
    await world.jobs.pause("default", [entry.job.id], by="app default", why=GONE)
    found = (await look(world))["declared_jobs"]
    assert (found.level, found.text) == (Level.AMBER, "1 paused as gone from the code: report")
    assert "Scheduler(app=" in found.remedy


async def test_what_is_lost_with_all_processes_waits_for_recovery(world):
    await world.jobs.add(world.job(OnDemand()))
    await world.executions.trigger("default", "report")
    await world.store.promote(TEN, 0, 10)
    await world.claim()
    world.clock.instant += MINUTE
    found = (await look(world))["recovery"]
    assert found.level is Level.AMBER
    assert found.text == "1 execution is recorded as running, and no process is alive"
    await world.store.beat(replace(ALL, id="another"), world.clock.now())
    assert "recovery" not in await look(world)


class Broken(MemoryStore):
    """Does not answer."""

    pings = 0

    async def ping(self):
        self.pings += 1
        raise StoreUnavailable("db.internal:5432 refuses")


async def test_a_store_that_does_not_answer_is_red_and_its_host_a_secret(clock):
    reader = HealthReader(Broken(), clock)
    reader.process = lambda: ProcessHealth(ok=False, problems=["planner: db.internal:5432 refuses"])
    for actor, is_told in ((ADMIN, True), (TENANT, False)):
        health = await reader.of(actor)
        [found] = health.findings
        assert (found.check, found.level, health.ready) == ("store", Level.RED, False)
        assert ("db.internal" in found.text) is is_told
        assert health.scheduler_service == "failing"


async def test_many_probes_cost_as_much_as_one(clock):
    store = Broken()
    reader = HealthReader(store, clock)
    for _ in range(10):
        await reader.platform()
        await reader.of(ADMIN)
    assert store.pings == 1
    clock.instant += int(TTL * 1000)
    await reader.platform()
    assert store.pings == 2


async def test_a_crowd_waits_for_one_look_however_long_it_takes_to_answer_them(clock, monkeypatch):
    ticks = count(0.0, 2 * TTL)
    monkeypatch.setattr(clock, "monotonic", lambda: next(ticks))
    store = Broken()
    reader = HealthReader(store, clock)
    await asyncio.gather(*(reader.platform() for _ in range(10)))
    assert store.pings == 1


async def test_of_other_projects_nothing_is_told(world):
    job = replace(world.job(OnDemand(), queue="secret-queue"), project="other")
    await world.jobs.add(job)
    await world.executions.trigger("other", "report")
    await world.store.promote(TEN, 0, 10)
    world.clock.instant += LATE + 1000
    await world.store.beat(ALL, world.clock.now())
    assert "secret-queue" in (await look(world, ADMIN))["queues"].text
    assert "queues" not in await look(world, TENANT)


async def test_a_server_besides_the_store_is_asked(world):
    answers = True

    async def ping():
        if not answers:
            raise StoreUnavailable("redis.internal refuses")

    async def close():
        pass

    state = LinkState(
        check="redis", name="Redis", error=None, level=Level.AMBER, effect="polls", remedy="Start"
    )
    links = [Link(state=state, ping=ping, close=close)]
    assert (await look(world, links=links))["redis"].level is Level.GREEN
    answers = False
    found = (await look(world, links=links))["redis"]
    assert (found.level, found.remedy) == (Level.AMBER, "Start")
    assert "redis.internal" in found.text
    assert "internal" not in (await look(world, TENANT, links=links))["redis"].text


#: A process with production settings that is alive beats so often.
SETTINGS = Settings()
BEAT = int(SETTINGS.beat * 1000)
#: Seconds after which every condition is on record everywhere.
BOUND = 15
BOTH = replace(ALL, beat_every=BEAT)
ONLY_WORKER = replace(WORKER, beat_every=BEAT, roles=("worker",))
ONLY_PLANNER = replace(BOTH, id="p", roles=("planner",), queues=(), abilities=(), capacity=0)


@dataclass
class Condition:
    """What is wrong from now on, by which check it is told, and which processes go on beating."""

    check: str
    beating: tuple[Worker, ...] = (BOTH,)
    skew: int = 0
    links: tuple[Link, ...] = ()


async def due(world, **fields):
    await world.jobs.add(world.job(OnDemand(), **fields))
    run = await world.executions.trigger("default", "report")
    await world.store.promote(TEN, 0, 10)
    return run


async def no_planner(world):
    await world.jobs.add(world.job(Every("1s")))
    return Condition("planner", beating=(ONLY_WORKER,))


async def a_planner_that_hangs(world):
    await world.jobs.add(world.job(Every("1s")))
    return Condition("planner")


async def no_worker(world):
    await due(world)
    return Condition("workers", beating=(ONLY_PLANNER,))


async def no_worker_for_a_queue(world):
    await due(world, queue="mail")
    return Condition("queues")


async def no_worker_for_a_handler(world):
    await due(world, target=Call("y"))
    return Condition("handlers")


async def parked_work(world):
    run = await due(world, target=Call("y"))
    await world.store.settle([run.id], {State.QUEUED}, State.PARKED, "x", TEN)
    return Condition("handlers")


async def a_paused_queue(world):
    await due(world)
    pause = {"by": "ada", "why": "lunch", "since": TEN}
    record = Record(kind=PAUSE_KIND, project=PAUSE_PROJECT, key="default", document=pause)
    await world.store.put_record(record, TEN)
    return Condition("paused_queues")


async def a_store_that_fails(world):
    async def ping():
        raise StoreUnavailable("refused")

    world.store.ping = ping
    return Condition("store", beating=())


async def redis_away(world):
    async def ping():
        raise StoreUnavailable("refused")

    async def close():
        pass

    state = LinkState(
        check="redis", name="Redis", error=None, level=Level.AMBER, effect="polls", remedy="Start"
    )
    return Condition("redis", links=(Link(state=state, ping=ping, close=close),))


async def a_clock_that_is_off(world):
    return Condition("clock", skew=1001)


CONDITIONS = [
    no_planner,
    a_planner_that_hangs,
    no_worker,
    no_worker_for_a_queue,
    no_worker_for_a_handler,
    parked_work,
    a_paused_queue,
    a_store_that_fails,
    redis_away,
    a_clock_that_is_off,
]


@pytest.mark.parametrize("begin", CONDITIONS, ids=lambda each: each.__name__)
async def test_each_condition_is_told_within_15_seconds(world, begin):
    reader = HealthReader(world.store, world.clock)
    reader.wall = world.clock.now
    for each in (BOTH, ONLY_PLANNER):  # all was well, a moment ago
        await world.store.beat(each, TEN)
    assert all(each.level is Level.GREEN for each in (await reader.platform()).findings)
    for each in (BOTH, ONLY_PLANNER):
        await world.store.beat(each, TEN, leaving=True)
    condition = await begin(world)
    gone = replace(BOTH, id="gone")
    if condition.beating and BOTH not in condition.beating:
        await world.store.beat(gone, TEN)  # killed at the worst instant: just after a beat
    reader.wall = lambda: world.clock.now() + condition.skew
    reader.links = condition.links
    for second in range(BOUND + 1):
        world.clock.instant = TEN + second * 1000
        if second * 1000 % BEAT == 0:
            for each in condition.beating:
                await world.store.beat(each, world.clock.now())
        found = (
            each for each in (await reader.platform()).findings if each.check == condition.check
        )
        told = [each for each in found if each.level is not Level.GREEN]
        if told:
            assert told[0].remedy
            return
    raise AssertionError(f"{condition.check} is not told after {BOUND} s")


@virtually
async def test_a_store_that_hangs_is_told_within_15_seconds():
    clock, store = LoopClock(), MemoryStore()
    hanging = asyncio.Event()

    async def ping():
        await hanging.wait()

    store.ping = ping  # type: ignore[method-assign]
    began = clock.monotonic()
    [found] = (await HealthReader(store, clock).platform()).findings
    assert (found.check, found.level) == ("store", Level.RED)
    assert clock.monotonic() - began <= BOUND
