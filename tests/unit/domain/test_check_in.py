import json

import pytest

from tickwell import Cron, Every, OnDemand, Timeout
from tickwell.domain.check_in import Sign, body_of, check_address, dialled, request_of, slug_of
from tickwell.domain.job import Job
from tickwell.domain.target import Call
from tickwell.errors import InvalidJob

PING = "https://hc.example/ping/0b2e1c3a"
DSN = "https://abc123@o1.ingest.example.io/42"


def a_job(check_in=PING, trigger=None, **fields):
    trigger = OnDemand() if trigger is None else trigger
    name = fields.pop("name", "Daily Report!")
    return Job(id="j", name=name, trigger=trigger, target=Call("x"), check_in=check_in, **fields)


@pytest.mark.parametrize(
    ("sign", "url"),
    [
        (Sign.STARTED, f"{PING}/start?rid={{{{execution_id}}}}"),
        (Sign.SUCCEEDED, f"{PING}?rid={{{{execution_id}}}}"),
        (Sign.FAILED, f"{PING}/fail?rid={{{{execution_id}}}}"),
    ],
)
def test_a_url_is_pinged_as_healthchecks_has_it(sign, url):
    assert request_of(a_job(), sign).url == url
    assert request_of(a_job(f"{PING}/"), sign).url == url


def test_a_query_of_the_url_stays():
    url = request_of(a_job(f"{PING}?create=1"), Sign.FAILED).url
    assert url == f"{PING}/fail?create=1&rid={{{{execution_id}}}}"


def test_a_dsn_is_checked_in_with_as_sentry_has_it():
    request = request_of(a_job(DSN), Sign.STARTED)
    assert request.url == "https://o1.ingest.example.io/api/42/cron/daily-report/abc123/"
    assert request.headers == {"Content-Type": "application/json"}
    below = request_of(a_job("https://k@example.io:9000/sentry/7"), Sign.STARTED)
    assert below.url == "https://example.io:9000/sentry/api/7/cron/daily-report/k/"
    assert dialled(DSN) == "https://o1.ingest.example.io"


@pytest.mark.parametrize(
    ("trigger", "config"),
    [
        (
            Cron("0 9 * * mon-fri", tz="Europe/Rome"),
            {
                "schedule": {"type": "crontab", "value": "0 9 * * mon-fri"},
                "timezone": "Europe/Rome",
            },
        ),
        (Every("90m"), {"schedule": {"type": "interval", "value": 90, "unit": "minute"}}),
        (Every("2d"), {"schedule": {"type": "interval", "value": 2, "unit": "day"}}),
    ],
)
def test_sentry_is_given_the_schedule(trigger, config):
    job = a_job(DSN, trigger, timeout=Timeout(hard="90s"), retry=2)
    told = json.loads(body_of(job, "0197c0de-1111", Sign.STARTED))
    assert told == {
        "check_in_id": "0197c0de1111",
        "status": "in_progress",
        "monitor_config": config | {"max_runtime": 3},
    }


@pytest.mark.parametrize(
    "trigger",
    [OnDemand(), Every("30s"), Cron("0 0 9 * * *"), Cron("H 9 * * *"), Every("1h", max_runs=3)],
)
def test_what_sentry_cannot_say_is_left_to_it(trigger):
    told = json.loads(body_of(a_job(DSN, trigger), "e", Sign.FAILED, seconds=1.5))
    assert told == {"check_in_id": "e", "status": "error", "duration": 1.5}


def test_a_failed_run_says_why_in_a_thousand_characters():
    assert body_of(a_job(), "e", Sign.FAILED, log="x" * 2000) == "x" * 1000
    assert body_of(a_job(), "e", Sign.STARTED) == ""


@pytest.mark.parametrize(
    "address",
    [
        "",
        " ",
        7,
        "hc-ping.com/x",
        "ftp://hc.example/x",
        "https://user:word@hc.example/x",
        "https://key@hc.example/project",
        "https://hc.example/{{secret.x}}",
        f"https://hc.example/{'x' * 2048}",
    ],
)
def test_another_address_is_refused(address):
    with pytest.raises(InvalidJob) as refused:
        check_address(address)
    assert refused.value.field == "check_in"


@pytest.mark.parametrize(
    ("name", "slug"),
    [("nightly", "nightly"), ("Ärger/7 mal", "rger-7-mal"), ("日報", "job"), ("a" * 60, "a" * 50)],
)
def test_the_slug_of_a_name(name, slug):
    assert slug_of(name) == slug
