"""Gates: the name that a concurrency key gets from a payload."""

import pytest

from tickwell.domain.gate import LONGEST, Concurrency
from tickwell.errors import InvalidJob


@pytest.mark.parametrize(
    ("key", "payload", "gate"),
    [
        ("mail", None, "shop/mail"),
        ("to-{{payload.to}}", {"to": "ann"}, "shop/to-ann"),
        ("to-{{ payload.to.id }}", {"to": {"id": 7}}, "shop/to-7"),
        ("to-{payload.to}", {"to": "ann"}, "shop/to-ann"),
        ("to-{ payload.to.id }", {"to": {"id": 7}}, "shop/to-7"),
        ("to-{to}", {"to": "ann"}, "shop/to-{to}"),
        ("to-{{payload.to}}", {}, "shop/to-"),
        ("to-{{payload.to.id}}", {"to": "ann"}, "shop/to-"),
        ("to-{{payload.to}}", [1], "shop/to-"),
        ("{{payload.a}}/{{payload.b}}", {"a": 1, "b": 2}, "shop/1/2"),
    ],
)
def test_fields_of_the_payload_are_filled_in(key, payload, gate):
    assert Concurrency(key).gate("shop", payload) == gate


def test_projects_never_share_a_gate():
    assert Concurrency("b/c").gate("a", None) != Concurrency("c").gate("a/b", None)
    assert Concurrency("c").gate("a%2Fb", None) != Concurrency("c").gate("a/b", None)


@pytest.mark.parametrize("value", ["x" * 100_000, "a\0b", "\ud800"])
def test_what_no_store_could_index_gets_a_short_name(value):
    gate = Concurrency("{{payload.to}}").gate("shop", {"to": value})
    assert len(gate) <= LONGEST
    assert gate.isprintable()
    assert gate == Concurrency("{{payload.to}}").gate("shop", {"to": value})
    assert gate != Concurrency("{{payload.to}}").gate("shop", {"to": value + "y"})


@pytest.mark.parametrize(
    ("key", "limit", "field"),
    [
        ("", 1, "concurrency.key"),
        ("x" * 256, 1, "concurrency.key"),
        ("x", 0, "concurrency.limit"),
    ],
)
def test_a_gate_that_could_not_work_is_refused(key, limit, field):
    with pytest.raises(InvalidJob) as caught:
        Concurrency(key, limit)
    assert caught.value.field == field
