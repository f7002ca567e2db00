"""Rates: how they are written, the gates that they make, and who may start when."""

import pytest

from tickwell.domain.gate import Concurrency
from tickwell.domain.rate import (
    CLOCKS_APART,
    MOST_STARTS,
    is_rate,
    left_after,
    make_rate,
    period_of,
    permit_back_at,
    permit_from,
    rate_gate,
    read_rate,
    with_returned,
)
from tickwell.domain.trigger import OnDemand
from tickwell.errors import InvalidJob
from tickwell.testing.contract.builders import a_job


@pytest.mark.parametrize(
    ("given", "kept"),
    [("100/1m", "100/1m"), ("100/m", "100/1m"), (" 5 / 90s ", "5/1m30s"), ("1/100ms", "1/100ms")],
)
def test_a_rate_is_kept_in_one_way(given, kept):
    assert make_rate(given) == kept
    assert read_rate(kept) == read_rate(given)
    assert a_job(trigger=OnDemand(), rate=given).rate == kept


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"rate": "100"}, "rate: '100' is not N/PERIOD"),
        ({"rate": 100}, "rate: 100 is not a text"),
        ({"rate": "0/1m"}, "rate: 0 starts are not between 1 and 1,000"),
        ({"rate": f"{MOST_STARTS + 1}/1m"}, "rate: 1001 starts are not between 1 and 1,000"),
        ({"rate": "5/7"}, "rate: must have a unit; got 7"),
        ({"rate": "5/10ms"}, "rate: a period of 10ms is not between 100ms and 31d"),
        ({"rate": "5/32d"}, "rate: a period of 32d is not between 100ms and 31d"),
        ({"rate_key": "k"}, "rate_key: needs a rate"),
        ({"rate": "5/1m", "rate_key": ""}, "rate_key: a key has 1 to 255 characters"),
        ({"rate": "5/1m", "rate_key": "{payload}"}, "rate_key: '{payload}' is not a field"),
        ({"rate": "5/1m", "rate_key": "{{job.id}}"}, "rate_key: '{{job.id}}' is not a field"),
        (
            {"rate": "5/1m", "concurrency": Concurrency("k")},
            "rate: a job has a rate or a concurrency key, not both",
        ),
    ],
)
def test_what_limits_nothing_is_refused(fields, problem):
    with pytest.raises(InvalidJob) as raised:
        a_job(trigger=OnDemand(), **fields)
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("key", "payload", "end"),
    [
        ("k", None, "/60000/shop/key/k"),
        ("c-{payload.customer}", {"customer": 7}, "/60000/shop/key/c-7"),
        ("c-{{ payload.customer }}", {"customer": 7}, "/60000/shop/key/c-7"),
        ("{payload.a.b}", {"a": {"b": "x"}}, "/60000/shop/key/x"),
        ("{payload.a.b}", {"a": 1}, "/60000/shop/key/"),
        ("{job.name}@{job.queue}", None, "/60000/shop/key/mail@slow"),
        ("{job.tags}", None, "/60000/shop/key/a,b"),
    ],
)
def test_the_gate_of_a_key(key, payload, end):
    job = a_job("mail", project="shop", queue="slow", tags=("b", "a"), rate="5/1m", rate_key=key)
    assert job.gate_of(payload) == (end, 5)
    assert is_rate(end)
    assert period_of(end) == 60_000


def test_gates_of_projects_jobs_keys_and_concurrency_do_not_meet():
    one = a_job(project="a/b", rate="5/1m")
    names = {
        rate_gate(one, 60_000, None),
        rate_gate(a_job(id=one.id, project="a", rate="5/1m"), 60_000, None),
        rate_gate(a_job(id=one.id, project="a/b", rate="5/1m", rate_key=one.id), 60_000, None),
    }
    assert len(names) == 3
    assert not is_rate(Concurrency("key").gate("/60000/a", None))


def test_a_payload_that_has_no_such_value_makes_a_key_all_the_same():
    job = a_job(rate="5/1m", rate_key="{payload.note}")
    long = job.gate_of({"note": "x" * 999})[0]
    assert long is not None
    assert len(long) < 80
    assert long != job.gate_of({"note": "x" * 998})[0]


@pytest.mark.parametrize(
    ("held", "free", "limit", "at"),
    [
        (0, [], 1, 0),
        (1, [], 1, None),
        (0, [50], 1, 50),
        (0, [50], 2, 0),
        (1, [50], 2, 50),
        (0, [50, 70], 2, 50),
        (0, [50, 70], 1, 70),
        (1, [50, 70], 2, 70),
        (3, [50], 2, None),
    ],
)
def test_from_when_on_a_permit_can_be_had(held, free, limit, at):
    assert permit_from(held, free, limit) == at


def test_used_permits_are_kept_until_they_are_back_by_every_clock():
    now = 75 + CLOCKS_APART
    assert with_returned([75, 90], 80, now) == [80, 90]
    assert with_returned([76], 60, now) == [76]
    assert with_returned([70], 60, now) == []
    assert left_after([50, 50, 70], 50) == [50, 70]
    assert left_after([50], 0) == [50]


def test_a_permit_is_back_a_period_after_the_latest_instant_at_which_it_may_have_been_used():
    gate = "/1000/default/key/k"
    assert permit_back_at(gate, 5, 7, 9) == 1007
    assert permit_back_at(gate, 5, None, 9) == 1009
    assert permit_back_at(gate, 5, None, None) == 5
