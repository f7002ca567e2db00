"""Celery tasks as targets: what is refused when they are made, and their documents."""

from datetime import UTC, datetime

import pytest

from tickwell import Celery
from tickwell.domain.document.target import TARGET
from tickwell.errors import InvalidInput


def test_a_task_needs_a_worker_with_a_broker_whatever_the_project():
    target = Celery("shop.tasks.charge")
    assert {target.ability_in("default"), target.ability_in("shop")} == {"celery"}
    assert (target.args, target.kwargs, target.wait) == ((), {}, True)


def test_a_task_can_be_hashed_and_compared():
    one = Celery("t", [1, {"a": [2]}], {"b": 1, "c": None})
    same = Celery("t", (1, {"a": (2,)}), {"c": None, "b": 1})
    assert one == same
    assert hash(one) == hash(same)
    assert one != Celery("t", [1, {"a": [3]}], {"b": 1, "c": None})


def test_a_task_does_not_change_with_what_it_was_made_of():
    args, kwargs = [{"a": [1]}], {"b": {"c": 1}}
    target = Celery("t", args, kwargs)
    args[0]["a"].append(2)
    kwargs["b"]["c"] = 2
    assert (target.args, target.kwargs) == (({"a": [1]},), {"b": {"c": 1}})


@pytest.mark.parametrize(
    ("fields", "where", "says"),
    [
        ({"task": ""}, "task", "1 to 255"),
        ({"task": "two words"}, "task", "without spaces"),
        ({"task": 7}, "task", "1 to 255"),
        ({"args": "abc"}, "args", "not a list"),
        ({"args": [1, {"at": [datetime.now(UTC)]}]}, "args.1.at.0", "datetime is not JSON"),
        ({"kwargs": [1]}, "kwargs", "not an object"),
        ({"kwargs": {"a": {7: 1}}}, "kwargs.a", "not a text"),
        ({"kwargs": {"a": float("inf")}}, "kwargs.a", "not a number"),
        ({"kwargs": {"a": 2**70}}, "kwargs.a", "64 bits"),
        ({"args": ["x" * 2**20]}, "args", "more than"),
        ({"queue": "a b"}, "queue", "without spaces"),
        ({"routing_key": "x" * 256}, "routing_key", "1 to 255"),
        ({"exchange": None}, "exchange", "1 to 255"),
        ({"priority": 256}, "priority", "0 to 255"),
        ({"priority": True}, "priority", "0 to 255"),
        ({"wait": 1}, "wait", "true nor false"),
    ],
)
def test_what_no_task_takes_is_refused_with_its_path(fields, where, says):
    with pytest.raises(InvalidInput, match=says) as caught:
        Celery(**({"task": "shop.tasks.charge"} | fields))
    assert caught.value.field == f"target.celery.{where}"


@pytest.mark.parametrize(
    "target",
    [
        Celery("shop.tasks.charge"),
        Celery("t", [1, [2], None], {"order": {"id": 7}}, queue="billing"),
        Celery("t", exchange="e", routing_key="r.k", priority=0, wait=False),
    ],
)
def test_a_document_describes_the_whole_task(target):
    document = TARGET.write(target)
    assert list(document) == ["celery"]
    assert TARGET.read(document) == target


def test_a_document_leaves_defaults_out():
    assert TARGET.write(Celery("t")) == {"celery": {"task": "t"}}


@pytest.mark.parametrize(
    ("inner", "where", "says"),
    [
        ({}, "task", "missing"),
        ({"task": "t", "arg": []}, "arg", "not a known field"),
        ({"task": "t", "args": {}}, "args", "not a list"),
        ({"task": "t", "broker": "redis://x"}, "broker", "not a known field"),
    ],
)
def test_a_document_with_a_mistake_names_it(inner, where, says):
    with pytest.raises(InvalidInput, match=says) as caught:
        TARGET.read({"celery": inner})
    assert caught.value.field == f"target.celery.{where}"
