from datetime import UTC, datetime, timedelta

import pytest
from celery.beat import BeatLazyFunc
from celery.schedules import crontab, schedule, solar
from kombu import Exchange, Queue

from tickwell import Celery, Cron, Every, Once
from tickwell.celery_beat.entry import BeatEntry
from tickwell.celery_beat.jobs import job_of, jobs_of
from tickwell.errors import InvalidInput

NOON = crontab(hour=12, minute=0)


def entry(**values):
    return BeatEntry(**{"name": "x", "task": "shop.tick", "schedule": NOON, **values})


def refusal(**values):
    with pytest.raises(InvalidInput) as caught:
        job_of(entry(**values))
    return str(caught.value)


def test_a_crontab_becomes_a_cron_expression_as_celery_reads_it():
    job = job_of(entry(tz="Europe/Rome"))
    assert job.trigger == Cron("0 12 * * *", "Europe/Rome", dialect="celery")
    assert job.target == Celery("shop.tick", wait=False)
    assert (job.overlap, job.tags) == ("skip", ("celery-beat",))
    assert job_of(entry(), wait=True).overlap == "allow"


def test_lists_and_sets_in_a_crontab_are_written_as_one_field():
    found = crontab(minute=[30, 0], hour={9}, day_of_week="mon,fri")
    expected = Cron("0,30 9 * * mon,fri", dialect="celery")
    assert job_of(entry(schedule=found)).trigger == expected


@pytest.mark.parametrize("given", [90, 90.0, timedelta(seconds=90), schedule(90)])
def test_numbers_and_timedeltas_become_intervals(given):
    assert job_of(entry(schedule=given)).trigger == Every("90s")


def test_a_moment_becomes_a_single_fire():
    at = datetime(2027, 1, 1, tzinfo=UTC)
    assert job_of(entry(schedule=at, one_off=True)).trigger == Once(at)


def test_an_entry_of_one_run_has_one_run():
    assert job_of(entry(one_off=True)).trigger.max_runs == 1


def test_arguments_and_routing_go_to_the_target():
    options = {
        "queue": Queue("declared"),
        "exchange": Exchange("money"),
        "routing_key": "bills.high",
        "priority": 3,
        "expires": None,
        "headers": {},
    }
    job = job_of(entry(args=(1, [2]), kwargs={"a": "b"}, options=options), wait=True)
    assert job.target == Celery(
        "shop.tick",
        args=(1, [2]),
        kwargs={"a": "b"},
        exchange="money",
        routing_key="bills.high",
        priority=3,
        wait=True,
    )


def test_a_queue_may_be_an_object_of_kombu():
    job = job_of(entry(options={"queue": Queue("bills")}))
    assert job.target == Celery("shop.tick", queue="bills", wait=False)


@pytest.mark.parametrize("expires", [60, 60.0, timedelta(minutes=1)])
def test_a_message_that_expires_is_an_execution_that_does(expires):
    assert job_of(entry(options={"expires": expires})).expires == 60_000


def test_an_expiry_at_a_moment_ends_the_job():
    first, last = datetime(2027, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)
    naive = first.replace(tzinfo=None)
    assert job_of(entry(options={"expires": first})).trigger.until == first
    assert job_of(entry(options={"expires": naive}, until=last)).trigger.until == first
    assert job_of(entry(options={"expires": last}, until=first)).trigger.until == first


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"schedule": solar.__new__(solar)}, "x: schedule: solar schedules follow the sun. Use a"),
        ({"schedule": {"__type__": "rrule"}}, "x: schedule: rrule cannot be translated. Use a cro"),
        ({"schedule": object}, "x: schedule: <class 'object'> is not a schedule"),
        ({"schedule": None}, "x: schedule: None is not a schedule. For example crontab(hour=9)"),
        ({"schedule": "soon"}, "x: schedule: 'soon' is not a schedule"),
        ({"schedule": 0.05}, "x: every: the period is 50 ms, 100 ms at least"),
        ({"schedule": crontab(nowfun=datetime.now)}, "x: schedule: the schedule has a clock of"),
        ({"options": {"expires": "soon"}}, "x: options.expires: 'soon' is not a number of seconds"),
        ({"options": {"expires": -1}}, "x: options.expires: -1 is not a number of seconds"),
        ({"options": {"headers": {"a": 1}}}, "x: options.headers: has no counterpart in a job"),
        ({"options": {"priority": "high"}}, "x: target.celery.priority: 'high' is not a whole"),
        ({"task": ""}, "x: target.celery.task: a task has a name"),
        ({"args": (object(),)}, "x: target.celery.args.0: object is not JSON"),
        ({"args": (BeatLazyFunc(int),)}, "x: args.0: is computed by Celery beat for every"),
        ({"kwargs": {"a": BeatLazyFunc(int)}}, "x: kwargs.a: is computed by Celery beat"),
        ({"kwargs": {"day": datetime(2027, 1, 1, tzinfo=UTC)}}, "x: target.celery.kwargs.day: dat"),
        ({"tz": "Mars/Base"}, "x: tz: no time zone 'Mars/Base'"),
    ],
)
def test_what_cannot_be_translated_is_refused_with_its_place(values, words):
    assert refusal(**values).startswith(words)


def test_every_unknown_option_is_named():
    options = {"countdown": 5, "queue": "q", "link": "y", "serializer": "yaml"}
    with pytest.raises(InvalidInput) as caught:
        job_of(entry(options=options))
    names = [each.field for each in caught.value.all]
    assert names == ["x: options.countdown", "x: options.link", "x: options.serializer"]
    assert "Set it on the task" in str(caught.value)


def test_every_entry_that_is_refused_is_named():
    entries = [entry(name="a", schedule=0), entry(name="b"), entry(name="c", task="")]
    with pytest.raises(InvalidInput) as caught:
        jobs_of(entries, wait=False)
    assert [each.field for each in caught.value.all] == ["a: every", "c: target.celery.task"]
