"""`TickwellScheduler` in this process: what it declares, sends, and leaves alone."""

import json
import time
from typing import Any

import pytest
import redis as driver
from celery import Celery
from celery.beat import BeatLazyFunc
from celery.schedules import crontab, solar

from tests.servers import redis
from tickwell import Scheduler
from tickwell.celery import TickwellScheduler
from tickwell.celery.app_sender import BRIEF, AppSender
from tickwell.celery_beat.entry import BeatEntry
from tickwell.celery_beat.jobs import job_of
from tickwell.declared.internals import internals
from tickwell.domain.execution import Claim, Kind, OutcomeKind, State
from tickwell.ports.records import ExecutionFilter, JobFilter

DATABASE = 10
#: Seconds in which a message comes on the slowest machine.
PATIENCE = 120
RULES = ("default:shop.*",)
#: For a broker that is away to be noticed at once.
AT_ONCE = {"max_retries": 1, "interval_start": 0, "interval_step": 0}
FAST = {"task": "shop.tick", "schedule": 0.2, "args": (1,), "kwargs": {"a": "b"}}


@pytest.fixture
def broker():
    url = redis.server().url.rpartition("/")[0] + f"/{DATABASE}"
    with driver.Redis.from_url(url) as client:
        client.flushdb()
        yield url
        client.flushdb()


@pytest.fixture
def make(broker, tmp_path, monkeypatch):
    """A beat on the store of this test; closed at its end."""
    monkeypatch.chdir(tmp_path)
    for name in ("TICKWELL_STORE", "DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    made = []

    def make(schedule, broker=broker, **conf):
        app = Celery("shop", broker=broker, set_as_current=False)
        app.conf.update({"beat_schedule": schedule, "result_expires": None, **conf})
        scheduler = TickwellScheduler(app=app)
        made.append(scheduler)
        return scheduler

    yield make
    for scheduler in made:
        scheduler.close()
        scheduler.app.close()


def messages(url, count, queue="celery"):
    """The next messages, each once it is there."""
    found = []
    with driver.Redis.from_url(url, socket_timeout=None) as client:
        for _ in range(count):
            text = client.blmove(queue, "seen", PATIENCE, "RIGHT", "LEFT")
            assert text is not None, "no message came"
            found.append(json.loads(text))
    return found


def rest(url):
    with driver.Redis.from_url(url) as client:
        return [json.loads(text) for text in client.lrange("celery", 0, -1)]


def executions(store="sqlite:///tickwell.db"):
    reader = Scheduler(store)
    try:

        async def read():
            await reader.open()
            return await internals(reader).executions.list(
                ExecutionFilter(project="default"), limit=1000
            )

        return reader.blocking.call(read).items
    finally:
        reader.blocking.stop()


def jobs(store="sqlite:///tickwell.db"):
    reader = Scheduler(store)
    try:

        async def read():
            await reader.open()
            return await internals(reader).jobs.list(JobFilter(project="default"))

        return {entry.job.name: entry for entry in reader.blocking.call(read).items}
    finally:
        reader.blocking.stop()


def test_two_beats_record_and_send_each_fire_time_once(make, broker):
    schedule = {"a": FAST, "b": {**FAST, "args": (2,)}}
    beats = [make(schedule), make(schedule)]
    sent = []
    for _ in range(10):
        assert [beat.tick() for beat in beats] == [300, 300]
        sent += messages(broker, 4)
    for beat in beats:
        beat.close()
    sent += rest(broker)
    succeeded = [each for each in executions() if each.state is State.SUCCEEDED]
    assert sorted(each["headers"]["id"] for each in sent) == sorted(each.id for each in succeeded)
    fires = [(each["headers"]["argsrepr"], each["headers"]["tickwell-fire-time"]) for each in sent]
    assert len(set(fires)) == len(fires)


def test_a_message_has_what_the_entry_says(make, broker):
    entry = {**FAST, "options": {"queue": "bills", "priority": 3, "expires": 3600}}
    make({"a": entry})
    [message] = messages(broker, 1, "bills\x06\x163")  # as Redis has this priority
    headers = message["headers"]
    assert (headers["task"], headers["id"]) == ("shop.tick", headers["tickwell-execution"])
    assert (headers["argsrepr"], headers["kwargsrepr"]) == ("[1]", "{'a': 'b'}")
    assert headers["celery_beat_task"] is True
    assert headers["tickwell-attempt"] == "1"
    assert headers["expires"][:4].isdecimal()
    assert message["properties"]["priority"] == 3


def test_entries_become_jobs_of_the_app_and_are_paused_when_they_are_gone(make, broker):
    late = {"task": "shop.tick", "schedule": crontab(hour=9, minute=0), "options": {"expires": 60}}
    make({"a": late, "b": late}, timezone="Europe/Rome").close()
    found = jobs()
    assert {name: entry.job.app for name, entry in found.items()} == {
        "a": "celery-beat shop",
        "b": "celery-beat shop",
    }
    job = found["a"].job
    assert (job.trigger.expr, job.trigger.tz) == ("0 9 * * *", "Europe/Rome")
    assert (job.queue, job.expires, job.tags) == ("celery-beat", 60_000, ("celery-beat",))
    assert job.target.wait is False
    make({"a": late}, timezone="Europe/Rome").close()
    assert {name: entry.cursor.state for name, entry in jobs().items()} == {
        "a": "active",
        "b": "paused",
    }


def test_the_store_is_that_of_the_configuration(make, tmp_path):
    url = f"sqlite:///{tmp_path}/elsewhere.db"
    make({"a": FAST | {"schedule": 3600}}, tickwell_store=url).close()
    assert list(jobs(url)) == ["a"]
    assert not (tmp_path / "tickwell.db").exists()


def test_beats_own_cleanup_of_results_is_a_job_too(make, broker, tmp_path):
    make(
        {"a": FAST | {"schedule": 3600}},
        result_backend=f"db+sqlite:///{tmp_path}/results.db",
        result_expires=60,
    ).close()
    found = jobs()
    assert sorted(found) == ["a", "celery.backend_cleanup"]
    assert found["celery.backend_cleanup"].job.expires == 43_200_000


def test_while_the_broker_is_away_nothing_is_lost(make):
    server = redis.start()
    server.kill()
    once = {"task_publish_retry": False, "broker_transport_options": AT_ONCE}
    beat = make({"a": FAST | {"schedule": 3600}}, broker=server.url, **once)
    engine = beat._engine
    waiting, limit = engine.blocking.trigger("a"), time.monotonic() + PATIENCE
    while not waiting.attempts:
        assert time.monotonic() < limit
        waiting = engine.blocking.get_execution(waiting.id)
    assert waiting.attempts[0].outcome is OutcomeKind.SNOOZED
    server.run()
    [message] = messages(server.url, 1)
    assert message["headers"]["id"] == waiting.id
    beat.close()
    server.stop()


async def test_a_broker_that_stays_away_is_left_until_it_is_back():
    server = redis.start()
    server.kill()
    app = Celery("shop", broker=server.url, set_as_current=False)
    app.conf.update(task_publish_retry=False, broker_transport_options=AT_ONCE)
    sender, job = AppSender(app, RULES), job_of(BeatEntry(name="a", task="shop.tick", schedule=5))
    tired = claim_of(job, returned=BRIEF)
    outcome = await sender.run(tired)
    assert (outcome.kind, outcome.not_here) == (OutcomeKind.RELEASED, True)
    why = await sender.refusal(job)
    assert why.startswith("the broker of the Celery app does not answer: ")
    assert why.endswith(". Start it, or correct broker_url")
    server.run()
    assert await sender.refusal(job) == ""
    assert (await sender.run(tired)).kind is OutcomeKind.SUCCEEDED
    await sender.close()
    app.close()
    server.stop()


async def test_a_beat_sends_only_what_is_allowed(broker):
    app = Celery("shop", broker=broker, set_as_current=False)
    sender, job = AppSender(app, RULES), job_of(BeatEntry(name="a", task="other", schedule=5))
    outcome = await sender.run(claim_of(job))
    assert (outcome.kind, outcome.not_here) == (OutcomeKind.RELEASED, True)
    assert outcome.error == await sender.refusal(job)
    assert 'Add "default:other" to the setting celery_tasks' in outcome.error
    assert rest(broker) == []
    await sender.close()
    app.close()


async def test_a_payload_that_is_no_argument_is_refused_for_good(broker):
    app = Celery("shop", broker=broker, set_as_current=False)
    sender, job = AppSender(app, RULES), job_of(BeatEntry(name="a", task="shop.tick", schedule=5))
    outcome = await sender.run(claim_of(job, payload="text"))
    assert (outcome.kind, outcome.retry) == (OutcomeKind.FAILED, False)
    assert "the payload of a Celery task is an object or a list" in (outcome.error or "")
    await sender.close()
    app.close()


def claim_of(job, **values):
    made: dict[str, Any] = {"kind": Kind.FIRE, "attempt": 1, "charged": 1, "lost": 0, "returned": 0}
    made |= {"fire_time": 0, "run_at": 0, "payload": None, "deadline": 0, "worker": "w"}
    return Claim(id="e", job=job, claim_id="c", **(made | values))


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        (
            {"sun": {"task": "t", "schedule": solar.__new__(solar)}},
            "tickwell: sun: schedule: solar schedules follow the sun",
        ),
        ({"a": FAST | {"args": [BeatLazyFunc(int)]}}, "tickwell: a: args.0: is computed by"),
        ({"a": FAST | {"options": {"eta": 1}}}, "tickwell: a: options.eta: has no counterpart"),
        ({"a": FAST | {"args": [{1}]}}, "tickwell: a: target.celery.args.0: set is not JSON"),
    ],
)
def test_an_entry_that_cannot_be_a_job_ends_the_start(make, tmp_path, schedule, words):
    with pytest.raises(SystemExit) as caught:
        make(schedule)
    assert str(caught.value).startswith(words)
    assert not (tmp_path / "tickwell.db").exists()
