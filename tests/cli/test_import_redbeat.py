"""Entries that RedBeat itself wrote to a real Redis become jobs."""

from datetime import UTC, datetime

import pytest
import redis as driver
from celery import Celery
from celery.schedules import crontab, schedule
from redbeat import RedBeatSchedulerEntry
from redbeat.schedules import rrule

from tests.servers import redis

pytestmark = pytest.mark.usefixtures("any_task")

DATABASE = 9


@pytest.fixture
def url():
    """A database of the session's server for these tests alone."""
    found = redis.server().url.rpartition("/")[0] + f"/{DATABASE}"
    client = driver.Redis.from_url(found)
    client.flushdb()
    yield found
    client.flushdb()
    client.close()


@pytest.fixture
def save(url):
    app = Celery("shop", broker=url, set_as_current=False)
    app.conf.redbeat_redis_url = url
    app.conf.redbeat_redis_options = {}

    def save(name, found, task="shop.tick", prefix="redbeat:", **values):
        app.conf.redbeat_key_prefix = prefix
        vars(app).pop("redbeat_conf", None)  # where it remembers the prefix
        RedBeatSchedulerEntry(name, task, found, app=app, **values).save()

    yield save
    app.redbeat_redis.close()
    app.close()


def test_the_entries_of_redbeat_become_jobs(tickwell, url, save, either):
    options = {"queue": "reports", "expires": 60}
    save("report", crontab(hour=9, minute=0), args=[1], kwargs={"a": "b"}, options=options)
    save("tidy", schedule(600), enabled=False)
    save("days", schedule(86_400, relative=True))
    came = tickwell("import", "redbeat", url, "--tz", "Europe/Rome")
    assert came.err.splitlines()[0] == "3 jobs: 3 added, 0 changed, 0 unchanged."
    again = tickwell("import", "redbeat", url, "--tz", "Europe/Rome", "--json")
    assert again.json == {"added": 0, "changed": 0, "unchanged": 3}
    jobs = {job["name"]: job for job in tickwell("jobs", "export").json["jobs"]}
    assert jobs["report"]["trigger"] == {
        "cron": "0 9 * * *",
        "tz": "Europe/Rome",
        "dialect": "celery",
    }
    assert jobs["report"]["target"]["celery"] == {
        "task": "shop.tick",
        "args": [1],
        "kwargs": {"a": "b"},
        "queue": "reports",
        "wait": False,
    }
    assert jobs["report"]["expires"] == "1m"
    assert (jobs["tidy"]["trigger"], jobs["tidy"]["state"]) == ({"every": "10m"}, "paused")
    assert jobs["days"]["trigger"]["calendar_every"] == {"days": 1}


def test_a_dry_run_counts_intervals_from_the_last_run(tickwell, url, save, store):
    save("tidy", schedule(600), last_run_at=datetime(2039, 1, 1, tzinfo=UTC))
    ran = tickwell("import", "redbeat", url, "--dry-run")
    assert (ran.code, store.exists()) == (0, False)
    assert ran.rows[0][2] == "2039-01-01T00:10:00.000Z"


def test_only_keys_with_the_prefix_are_entries(tickwell, url, save):
    save("mine", schedule(600), prefix="shop[1]:")
    save("other", schedule(600))
    tickwell("import", "redbeat", url, "--prefix", "shop[1]:")
    assert [row[0] for row in tickwell("jobs", "list").rows] == ["mine"]


def test_what_has_no_counterpart_is_named_and_stops_all(tickwell, url, save, store):
    save("good", schedule(600))
    save("rule", rrule("DAILY", dtstart=datetime(2026, 1, 1, tzinfo=UTC)))
    save("timed", schedule(600), args=[datetime(2026, 1, 1, tzinfo=UTC)])
    refused = tickwell("import", "redbeat", url)
    assert (refused.code, store.exists()) == (2, False)
    assert [line.split(". ")[0] for line in refused.err.splitlines()] == [
        "tickwell: rule: schedule: rrule cannot be translated",
        "tickwell: timed: target.celery.args.0: datetime is not JSON",
    ]


def test_a_definition_that_is_not_redbeats_is_one_sentence(tickwell, url, store):
    with driver.Redis.from_url(url) as client:
        client.hset("redbeat:broken", "definition", "{")
    refused = tickwell("import", "redbeat", url)
    assert (refused.code, store.exists()) == (2, False)
    assert refused.err.startswith("tickwell: broken: the definition in 'redbeat:broken' is not Re")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (None, "url: there are no RedBeat entries under 'redbeat:'. Name the database"),
        ("http://127.0.0.1", "url: is not a Redis URL: "),
        ("redis://127.0.0.1:1/0", "url: the Redis does not answer as expected: "),
    ],
)
def test_a_redis_without_entries_is_one_sentence(tickwell, url, store, wrong, words):
    refused = tickwell("import", "redbeat", wrong or url)
    assert (refused.code, store.exists()) == (2, False)
    assert refused.err.startswith(f"tickwell: {words}")
    assert len(refused.err.splitlines()) == 1
