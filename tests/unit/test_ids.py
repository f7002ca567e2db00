"""Ids sort by their instant."""

import random

from tickwell.ids import execution_id, first_id, new_id

NOON = 1_781_524_800_000


def test_the_first_id_of_an_instant_stands_between_it_and_all_before():
    rest = random.Random(1)
    now = [execution_id("j", NOON), new_id(NOON, rest)]
    before = [execution_id("j", NOON - 1), new_id(NOON - 1, rest)]
    assert max(before) < first_id(NOON) < min(now)
    assert len(first_id(NOON)) == len(now[0])
