"""Ids sort by their instant; a trace is one of them."""

import random
import re
from uuid import UUID

import pytest

from tickwell.ids import execution_id, first_id, new_id, new_ids, trace_id

NOON = 1_781_524_800_000


def test_the_first_id_of_an_instant_stands_between_it_and_all_before():
    rest = random.Random(1)
    now = [execution_id("j", NOON), new_id(NOON, rest)]
    before = [execution_id("j", NOON - 1), new_id(NOON - 1, rest)]
    assert max(before) < first_id(NOON) < min(now)
    assert len(first_id(NOON)) == len(now[0])


def test_several_at_once_are_like_one_by_one():
    ids = new_ids(NOON, random.Random(7), 1000)
    assert len(set(ids)) == 1000
    assert new_ids(NOON, random.Random(7), 1) == [new_id(NOON, random.Random(7))]
    assert new_ids(NOON, random.Random(7), 0) == []
    for id in ids:
        assert (UUID(id).version, UUID(id).int >> 80) == (7, NOON)


@pytest.mark.parametrize("odd", ["same", "0x" + "a" * 30, "A" * 32, "_" + "1" * 31, "a" * 33])
def test_a_trace_is_the_id_without_dashes_or_a_digest_of_it(odd):
    id = new_id(NOON, random.Random(1))
    assert trace_id(id) == id.replace("-", "")
    assert re.fullmatch("[0-9a-f]{32}", trace_id(odd))
    assert trace_id(odd) != odd
