"""Uniqueness: how it is written, which runs are the same, and which of them answer a request."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tickwell.domain.policy import HOUR, MINUTE, SECOND
from tickwell.domain.trigger import OnDemand
from tickwell.domain.unique import Same, Unique, Uniqueness, ruled, unique_of, uniqueness_of
from tickwell.errors import InvalidInput, InvalidJob
from tickwell.testing.contract.builders import T0, a_job, a_request


def job_with(**fields):
    return a_job(trigger=OnDemand(), **fields)


def run(requested_at=T0, id="a", *, state="ended", untried=False):
    return Same(
        requested_at,
        id,
        is_pending=state == "pending",
        is_running=state == "running",
        is_untried=untried,
    )


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("pending", "pending"),
        (" running ", "running"),
        ("never", "never"),
        ("24h", "1d"),
        (timedelta(minutes=90), "1h30m"),
    ],
)
def test_what_is_said_is_kept_in_one_way(given, kept):
    assert job_with(unless=given).unless == kept


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"unless": "queued"}, "unless: "),
        ({"unless": 5}, "unless: 5 is not a text"),
        ({"unless": "0s"}, "unless: 0s is not between 1ms and 366d"),
        ({"unless": "60d"}, "unless: is longer than the job's history is kept"),
        ({"debounce": "100ms"}, "debounce: 100ms is not between 1s and 31d"),
        ({"debounce": 30}, "debounce: must have a unit; got 30"),
        ({"debounce": "5s", "debounce_max": "1s"}, "debounce_max: is shorter than"),
        ({"debounce_max": "5m"}, "debounce_max: needs a debounce"),
        ({"unique_key": "k"}, "unique_key: needs `unless` or `debounce`"),
        ({"unless": "pending", "unique_key": "{customer}"}, "unique_key: '{customer}' is not"),
        ({"unless": "pending", "debounce": "5s"}, "debounce: a run is refused or replaced"),
    ],
)
def test_what_has_no_meaning_is_refused(fields, problem):
    with pytest.raises(InvalidJob, match=r".") as refused:
        job_with(**fields)
    assert str(refused.value).startswith(problem)


def test_the_order_of_fields_does_not_matter():
    job, rule = job_with(), Uniqueness(unless="pending")
    assert unique_of(job, {"a": 1, "b": [2]}, rule) == unique_of(job, {"b": [2], "a": 1}, rule)
    assert unique_of(job, {"a": 1}, rule) != unique_of(job, {"a": 2}, rule)
    assert unique_of(job, [1, 2], rule) != unique_of(job, [2, 1], rule)


def test_no_payload_is_that_of_the_job():
    job, rule = job_with(payload={"a": 1}), Uniqueness(unless="pending")
    assert unique_of(job, None, rule) == unique_of(job, {"a": 1}, rule)


def test_a_key_is_no_payload():
    job = job_with(payload="key/k")
    keyed = Uniqueness(unless="pending", unique_key="k")
    assert unique_of(job, None, keyed) != unique_of(job, None, Uniqueness(unless="pending"))


def test_debounced_runs_have_names_of_their_own():
    job = job_with()
    once = unique_of(job, 1, Uniqueness(unless="running"))
    assert once.name != unique_of(job, 1, Uniqueness(debounce="30s")).name


@pytest.mark.parametrize(
    ("unless", "pending", "running", "ended", "old"),
    [
        ("pending", True, False, False, False),
        ("running", True, True, False, False),
        ("1h", True, True, True, False),
        ("never", False, False, False, False),
    ],
)
def test_which_run_answers(unless, pending, running, ended, old):
    unique = unique_of(job_with(), None, Uniqueness(unless=unless))
    now = T0 + HOUR - 1
    assert bool(unique.answer([run(state="pending")], now)) is pending
    assert bool(unique.answer([run(state="running")], now)) is running
    assert bool(unique.answer([run()], now)) is ended
    assert bool(unique.answer([run()], now + 1)) is old
    # By a clock that is behind, it has just been requested.
    assert bool(unique.answer([run()], T0 - 1)) is ended


def test_the_newest_answers():
    unique = Unique("n", pending=True)
    first, second = run(state="pending"), run(T0 + 1, state="pending")
    assert unique.answer([second, first, run(T0 + 2)], T0 + 3) is second


def test_only_what_was_not_tried_is_replaced():
    unique = Unique("n", debounced=True)
    assert unique.answer([run(state="pending")], T0) is None
    assert unique.answer([run(state="running"), run()], T0) is None
    assert unique.answer([run(state="pending", untried=True)], T0)


def test_a_run_is_put_off_up_to_the_maximum():
    assert Unique("n", debounced=True).due(T0 + MINUTE, T0) == T0 + MINUTE
    unique = Unique("n", debounced=True, most=MINUTE)
    assert unique.due(T0 + 40 * SECOND, T0) == T0 + 40 * SECOND
    assert unique.due(T0 + 70 * SECOND, T0) == T0 + MINUTE


def test_a_debounced_request_is_due_later_and_has_no_key():
    job = job_with(debounce="30s")
    rule = Uniqueness(debounce="30s")
    plain = a_request(job, T0, key="k")
    made = ruled(plain, rule, T0)
    assert (made.run_at, made.fire_time, made.key) == (T0 + 30_000, T0 + 30_000, None)
    assert made.rank - plain.rank == 30_000
    with pytest.raises(InvalidInput, match="starts when no more requests come"):
        ruled(a_request(job, T0), rule, T0, at_once=False)


def test_a_request_goes_before_its_job():
    job = job_with(unless="1h", unique_key="{payload.a}")
    assert uniqueness_of(job, None) == Uniqueness(unless="1h", unique_key="{payload.a}")
    assert uniqueness_of(job, Uniqueness(unless="never")) == Uniqueness(
        unless="never", unique_key="{payload.a}"
    )
    asked = Uniqueness(debounce="30s", unique_key="k")
    assert uniqueness_of(job, asked) is asked
    assert uniqueness_of(replace(job, unless=None, unique_key=None), None) is None
