"""The job document: exact in both directions, small, and clear about what is wrong."""

import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickwell.domain.document import job_from_document, job_to_document
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Job, copied
from tickwell.domain.policy import Backoff, Delivery, Misfire, OnMisfire, Retention, Retry, Timeout
from tickwell.domain.target import Call
from tickwell.domain.trigger import Calendar, Cron, Every, Once, OnDemand, Window
from tickwell.domain.trigger.duration import Millis
from tickwell.errors import InvalidJob, InvalidTrigger

SMALLEST = {
    "id": "0197c0de",
    "name": "report",
    "trigger": {"cron": "0 9 * * *", "tz": "Europe/Rome"},
    "target": {"call": {"handler": "send_report"}},
}
FULL = {
    **SMALLEST,
    "only_if": "has_mail",
    "check_in": "https://hc.example/ping/0b2e1c3a",
    "project": "shop",
    "queue": "mail",
    "payload": {"to": ["a", 1, None, True, 1.5]},
    "priority": 9,
    "retry": {
        "max_attempts": 5,
        "backoff": "linear",
        "delay": "7s",
        "factor": 3.0,
        "cap": "2h",
        "jitter": 0.2,
        "max_age": "1d",
        "max_losses": 7,
        "max_snoozes": 100,
    },
    "misfire": {"policy": "all", "grace": "1m", "catchup_window": "2d", "cap": 7},
    "overlap": "queue_one",
    "concurrency": {"key": "customer-{{payload.to}}", "limit": 2},
    "delivery": "at_most_once",
    "timeout": {"soft": "4m", "hard": "4m30s"},
    "expires": "10m",
    "pause_after": 5,
    "auto_remove": True,
    "dedupe_key": "order-4711",
    "retention": {"age": "1w", "count": 10, "dead": "8d"},
    "app": "billing",
    "declared": "5f2b",
    "description": "Sends it",
    "tags": ["b", "a"],
    "version": 4,
    "saved_at": 1_763_197_200_000,
    "created_at": 1_763_197_100_000,
}

durations = st.integers(0, 10**12).map(Millis)
spans = st.integers(1, 10**12).map(Millis)
instants = st.integers(-(10**12), 253_402_300_799_999)
names = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=40
)
texts = st.text(max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
moments = st.integers(0, 10**12).map(lambda ms: datetime.fromtimestamp(ms // 1000, UTC))
limits = st.fixed_dictionaries(
    {}, optional={"max_runs": st.integers(1, 99), "jitter": st.integers(0, 10**6).map(Millis)}
)
triggers = st.one_of(
    st.builds(lambda more: Cron("*/5 9-17 * * mon-fri", "Asia/Kathmandu", **more), limits),
    st.builds(lambda more: Cron("0 0 29 2 *", dst_gap="skip", **more), limits),
    st.builds(
        lambda period, after, more: Every(period, after=after, **more),
        st.integers(100, 10**11).map(Millis),
        st.sampled_from(["fire", "finish"]),
        limits,
    ),
    st.builds(lambda at, more: Once(at, **more), moments, limits),
    st.just(OnDemand()),
    st.just(Every("1h", within=(Window("mon-fri", "09:00", "17:00"),))),
    st.just(Cron("@daily", exclude=(Calendar("holidays", dates=("2026-12-25",)),))),
)
jobs = st.builds(
    Job,
    id=st.uuids().map(str),
    name=names,
    project=names,
    queue=names,
    trigger=triggers,
    target=st.builds(Call, st.text(min_size=1, max_size=30)),
    payload=json_values,
    priority=st.integers(1, 10),
    retry=st.builds(
        Retry,
        max_attempts=st.integers(1, 100),
        backoff=st.sampled_from(Backoff),
        delay=durations,
        factor=st.floats(1, 100),
        cap=durations,
        jitter=st.floats(0, 1),
        max_age=st.none() | spans,
        max_losses=st.none() | st.integers(1, 100),
        max_snoozes=st.integers(0, 1000),
    ),
    misfire=st.builds(
        Misfire,
        policy=st.sampled_from(OnMisfire),
        grace=durations,
        catchup_window=durations,
        cap=st.integers(1, 1000),
    ),
    overlap=st.sampled_from(Overlap),
    concurrency=st.none() | st.builds(Concurrency, names, st.integers(1, 9)),
    delivery=st.sampled_from(Delivery),
    timeout=st.builds(
        lambda soft, more: Timeout(soft=soft, hard=Millis(soft + more)), spans, durations
    ),
    expires=st.none() | spans,
    pause_after=st.none() | st.integers(1, 99),
    auto_remove=st.booleans(),
    dedupe_key=st.none() | names,
    retention=st.builds(Retention, age=durations, count=st.integers(0, 10**6), dead=durations),
    app=st.none() | names,
    declared=st.none() | names,
    description=texts,
    tags=st.lists(texts, max_size=3).map(tuple),
    version=st.integers(1, 10**6),
    saved_at=instants,
    created_at=instants,
)


@given(jobs)
def test_a_job_comes_back_exactly_through_json(job):
    document = job_to_document(job)
    assert job_from_document(json.loads(json.dumps(document))) == job
    assert job_to_document(job_from_document(document)) == document


def test_a_full_document_is_its_own_canonical_form():
    assert job_to_document(job_from_document(FULL)) == FULL
    rated = {**FULL, "rate": "100/1m", "rate_key": "{payload.to}"}
    del rated["concurrency"]  # a job has one of them
    assert job_to_document(job_from_document(rated)) == rated
    unique = {**FULL, "unless": "pending", "unique_key": "{payload.to}"}
    assert job_to_document(job_from_document(unique)) == unique
    debounced = {**FULL, "debounce": "30s", "debounce_max": "5m"}
    assert job_to_document(job_from_document(debounced)) == debounced
    assert set(FULL) | set(rated) | set(unique) | set(debounced) == {
        field.name for field in fields(Job)
    }


def test_what_has_its_default_is_left_out():
    assert job_to_document(job_from_document(SMALLEST)) == SMALLEST
    spelled_out = {**SMALLEST, "priority": 5, "retry": {"delay": "5000ms"}, "overlap": "skip"}
    assert job_to_document(job_from_document(spelled_out)) == SMALLEST


def test_only_what_differs_from_the_default_is_in_a_policy():
    job = replace(job_from_document(SMALLEST), retry=Retry(max_attempts=1))
    assert job_to_document(job)["retry"] == {"max_attempts": 1}


def test_null_stands_for_what_is_optional():
    nothing = {
        "expires": None,
        "concurrency": None,
        "app": None,
        "pause_after": None,
        "payload": None,
    }
    assert job_from_document({**SMALLEST, **nothing}) == job_from_document(SMALLEST)


@pytest.mark.parametrize(
    ("given", "millis"),
    [
        (1_763_197_200_000, 1_763_197_200_000),
        ("2025-11-15T09:00:00Z", 1_763_197_200_000),
        ("2025-11-15T10:00:00+01:00", 1_763_197_200_000),
        ("2025-11-15T09:00:00.250Z", 1_763_197_200_250),
        ("1970-01-01T00:00:00Z", 0),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ],
)
def test_an_instant_is_a_number_or_rfc_3339(given, millis):
    assert job_from_document({**SMALLEST, "created_at": given}).created_at == millis


@pytest.mark.parametrize(
    ("given", "span"),
    [("1h30m", timedelta(hours=1.5)), ("0.5s", timedelta(milliseconds=500)), ("PT5M", "5m")],
)
def test_a_duration_is_a_text_with_a_unit(given, span):
    written = job_from_document({**SMALLEST, "expires": given}).expires
    expected = timedelta(minutes=5) if span == "5m" else span
    assert written == expected / timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("change", "path", "reason", "example"),
    [
        ({"prioritty": 1}, "prioritty", "not a known field", '{"priority": 5}'),
        ({"xyzzy": 1}, "xyzzy", "not a known field", "Expected one of name, queue"),
        ({"priority": "high"}, "priority", "not a whole number", '{"priority": 5}'),
        ({"priority": True}, "priority", "not a whole number", '{"priority": 5}'),
        ({"priority": 11}, "priority", "not between 1 and 10", ""),
        ({"name": 7}, "name", "not a text", '{"name": "daily-report"}'),
        ({"name": ""}, "name", "1 to 255", ""),
        ({"retry": 3}, "retry", "not an object", '{"retry": {"max_attempts": 3'),
        ({"retry": {"maxattempts": 3}}, "retry.maxattempts", "known", '{"max_attempts": 3}'),
        ({"retry": {"delay": "5 parsecs"}}, "retry.delay", "not a duration", "5s, 5m"),
        ({"retry": {"delay": -1}}, "retry.delay", "between 0 and 100 years", "5s, 5m"),
        ({"retry": {"delay": 300}}, "retry.delay", "must have a unit; got 300", '"300s" for sec'),
        ({"retry": {"delay": 1.5}}, "retry.delay", "must have a unit; got 1.5", '"1.5s" for sec'),
        ({"expires": "300"}, "expires", "must have a unit; got 300", '"300ms" for milliseconds'),
        (
            {"target": {"http": {"url": "https://a.example", "timeout": 30}}},
            "target.http.timeout",
            "must have a unit; got 30",
            '"30s" for seconds or "30ms" for milliseconds',
        ),
        ({"retry": {"factor": float("nan")}}, "retry.factor", "not a number", '{"factor": 2.0}'),
        ({"retry": {"backoff": "cubic"}}, "retry.backoff", "not one of fixed, linear", ""),
        ({"retry": {"max_attempts": 0}}, "retry.max_attempts", "between 1 and 100", ""),
        ({"misfire": {"policy": ["skip"]}}, "misfire.policy", "not one of skip", ""),
        ({"concurrency": {"limit": 2}}, "concurrency.key", "missing", '{"key": "customer'),
        ({"timeout": 30}, "timeout", "must have a unit; got 30", '"30s" for seconds or "30ms"'),
        ({"timeout": "30s"}, "timeout", "not an object", '{"timeout": {"hard": "30s"}}'),
        ({"timeout": True}, "timeout", "not an object", '{"timeout": {"soft": "4m30s"'),
        ({"timeout": {"soft": "2h"}}, "timeout", "not longer than the hard", "soft 270 s"),
        ({"target": {}}, "target", "one of call", '{"target": {"call"'),
        ({"target": {"fax": {}}}, "target", "'fax' is not one of call", '{"target": {"call"'),
        ({"target": {"call": "x"}}, "target", "call is not an object", '{"target": {"call"'),
        ({"target": {"call": {}}}, "target.call.handler", "missing", '{"handler": "send_report"}'),
        ({"target": {"call": {"handler": ""}}}, "target.call.handler", "1 to 255", "send_report"),
        ({"trigger": "daily"}, "trigger", "not an object", '{"trigger": {"cron"'),
        ({"tags": "a"}, "tags", "not a list of texts", '{"tags": ["reports"]}'),
        ({"auto_remove": 1}, "auto_remove", "neither true nor false", '{"auto_remove": true}'),
        ({"created_at": "2025-11-15T09:00:00"}, "created_at", "offset from UTC", "Z"),
        ({"created_at": "soon"}, "created_at", "'soon' is not an instant", "Z"),
        ({"created_at": 1.5}, "created_at", "not an instant", "Z"),
        ({"overlap": None}, "overlap", "not one of skip", '{"overlap": "skip"}'),
    ],
)
def test_what_is_wrong_is_named_with_place_reason_and_example(change, path, reason, example):
    with pytest.raises(InvalidJob) as caught:
        job_from_document({**SMALLEST, **change})
    assert caught.value.field == path
    assert reason in caught.value.reason
    assert example in caught.value.hint


@pytest.mark.parametrize("missing", SMALLEST)
def test_what_is_missing_is_named(missing):
    document = {name: value for name, value in SMALLEST.items() if name != missing}
    with pytest.raises(InvalidJob) as caught:
        job_from_document(document)
    assert (caught.value.field, caught.value.reason) == (missing, "is missing")


@pytest.mark.parametrize("document", [None, [], "job", 3])
def test_a_job_is_an_object(document):
    with pytest.raises(InvalidJob, match="a job is an object"):
        job_from_document(document)


@pytest.mark.parametrize(
    ("trigger", "path"),
    [
        ({"cron": "61 * * * *"}, "trigger.cron"),
        ({"every": "1ms"}, "trigger.every"),
        ({}, "trigger"),
    ],
)
def test_what_is_wrong_with_a_trigger_is_placed_in_the_job(trigger, path):
    with pytest.raises(InvalidTrigger) as caught:
        job_from_document({**SMALLEST, "trigger": trigger})
    assert caught.value.field.startswith(path)


def test_jobs_that_are_alike_are_written_as_if_alone():
    first = Job(id="1", name="a", trigger=Every("1m"), target=Call("work"), saved_at=1)
    payloads: list[Any] = [0, None, False, {}, [], "", None, {"a": 1}, 0, None]
    others: list[dict[str, Any]] = [
        {"saved_at": 0},
        {"tags": ("x",)},
        {"created_at": 7},
        {"priority": 7},
        {"priority": 5},
    ]
    changes = [*({"payload": value} for value in payloads), *others]
    for number, change in enumerate(changes):
        job = copied(first, id=str(number), name=f"job-{number}", **change)
        document = job_to_document(job)
        fresh = job_from_document(document)
        assert fresh == job
        assert document == job_to_document(fresh), change  # of objects that nobody shares
        assert ("payload" in document) == (job.payload is not None)
        assert ("saved_at" in document) == (job.saved_at != 0)
