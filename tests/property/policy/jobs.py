"""Random jobs whose fire times lie close enough together to be met."""

from datetime import timedelta

from hypothesis import reject
from hypothesis import strategies as st

from tickwell.clock import to_datetime
from tickwell.domain.job import Job
from tickwell.domain.policy import Misfire, OnMisfire
from tickwell.domain.target import Call
from tickwell.domain.trigger import AnyOf, Calendar, Cron, Every, Once, Window
from tickwell.domain.trigger.duration import Millis
from tickwell.errors import InvalidTrigger

#: 15 June 2026, 10:00 UTC; a Monday.
START = 1_781_517_600_000
SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def instants(before=2 * HOUR, after=2 * HOUR):
    return st.integers(START - before, START + after)


misfires = st.builds(
    Misfire,
    policy=st.sampled_from(OnMisfire),
    grace=st.sampled_from(["0s", "1ms", "10s", "5m", "1h"]),
    catchup_window=st.sampled_from(["24h", "30m", "24h", "1m", "0s"]),
    cap=st.integers(1, 8),
)


@st.composite
def limits(draw):
    """What confines a trigger, most often nothing."""
    given_limits = {}
    if draw(st.booleans()):
        given_limits["max_runs"] = draw(st.integers(1, 12))
    if draw(st.integers(0, 3)) == 0:
        given_limits["until"] = to_datetime(draw(instants(0)))
    if draw(st.integers(0, 3)) == 0:
        given_limits["within"] = (Window(opens="09:30", closes="10:40"),)
    if draw(st.integers(0, 5)) == 0:
        given_limits["exclude"] = (Calendar("holiday", ["2026-06-16"]),)
    if draw(st.integers(0, 3)) == 0:
        given_limits["jitter"] = Millis(30 * SECOND)
    return given_limits


@st.composite
def triggers(draw):
    try:
        return draw_trigger(draw)
    except InvalidTrigger:
        reject()  # its confines leave nothing: refused when it is made


def draw_trigger(draw):
    kind = draw(st.sampled_from(["every", "cron", "once", "union"]))
    if kind == "once":
        return Once(to_datetime(draw(instants())))
    more = draw(limits())
    if kind == "cron":
        expr = draw(st.sampled_from(["* * * * *", "*/7 * * * *", "*/20 * * * * *", "5,35 * * * *"]))
        return Cron(expr, draw(st.sampled_from(["UTC", "Europe/Berlin"])), **more)
    period = timedelta(milliseconds=draw(st.integers(15 * SECOND, 8 * MINUTE)))
    if kind == "every":
        return Every(period, **more)
    return AnyOf(Every(period), Cron("*/15 * * * *"), **more)


def make_job(trigger, **fields):
    given_fields = {"id": "0197c0de-0000-7000-8000-000000000001", "name": "report"} | fields
    return Job(trigger=trigger, target=Call("report"), **given_fields)


jobs = st.builds(make_job, triggers(), misfire=misfires)
