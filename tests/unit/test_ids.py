"""Ids sort by their instant; a trace is one of them."""

import random
import re
from uuid import UUID

import pytest

from tickwell.ids import execution_id, first_id, new_id, new_ids, span_id, trace_id, traceparent

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
def test_a_trace_has_the_digits_of_the_id_or_is_a_digest_of_it(odd):
    id = new_id(NOON, random.Random(1))
    assert sorted(trace_id(id)) == sorted(id.replace("-", ""))
    assert trace_id(id)[:12] == id.replace("-", "")[:12]
    assert re.fullmatch("[0-9a-f]{32}", trace_id(odd))
    assert trace_id(odd) != odd


def test_a_sampler_by_trace_id_takes_its_part_of_them():
    """As TraceIdRatioBased does: the last 64 bits are a number below a part of them all."""
    source = random.Random(3)
    requested = [new_id(NOON, source) for _ in range(2000)]
    fired = [execution_id("job", NOON + second) for second in range(2000)]
    for ids in (requested, fired):
        taken = sum(int(trace_id(id)[16:], 16) < 0.1 * 2**64 for id in ids)
        assert 140 < taken < 260


def test_each_attempt_is_a_span_of_its_own():
    id = new_id(NOON, random.Random(1))
    assert len({span_id(id, attempt) for attempt in range(1, 100)}) == 99
    assert traceparent(id, 3) == f"00-{trace_id(id)}-{span_id(id, 3)}-01"
