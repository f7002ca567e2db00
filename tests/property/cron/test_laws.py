"""What holds for every expression, zone and instant."""

from contextlib import suppress
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.property.cron.clock_changes import ZONES
from tests.property.cron.expressions import make_expression
from tickwell.clock import NEVER, to_datetime
from tickwell.domain.cron import parse
from tickwell.domain.cron.wall import Fold, Gap
from tickwell.domain.trigger import Cron
from tickwell.errors import InvalidTrigger

FIRST = -62_135_596_800_000


def a_trigger(random: Random) -> Cron:
    zone = random.choice(["UTC", *ZONES])
    gap: Gap = random.choice(("shift", "skip"))
    fold: Fold = random.choice(("first", "last", "both"))
    while True:
        expr = make_expression(random, seconds=random.random() < 0.3)
        try:
            return Cron(expr, zone, dst_gap=gap, dst_fold=fold)
        except InvalidTrigger:
            continue


@given(st.randoms(use_true_random=False), st.integers(FIRST - 10**15, NEVER + 10**15))
def test_next_is_strictly_later_and_never_an_exception(random, instant):
    trigger = a_trigger(random)
    found = trigger.after(instant)
    if found is not None:
        assert instant < found <= NEVER
        assert found % 1000 == 0
        to_datetime(found)


@given(st.randoms(use_true_random=False), st.integers(0, 4_000_000_000_000))
def test_fires_increase_and_none_is_passed_over(random, instant):
    trigger = a_trigger(random)
    times = [instant]
    for _ in range(5):
        found = trigger.after(times[-1])
        assert found is not None
        assert found > times[-1]
        times.append(found)
    # asked from anywhere between two fires, the answer is the later one
    for before, later in pairwise(times[1:]):
        assert trigger.after(random.randrange(before, later)) == later
        assert trigger.after(later - 1) == later


@given(st.randoms(use_true_random=False), st.integers(FIRST, NEVER))
def test_next_in_datetimes_is_after_in_milliseconds(random, instant):
    trigger = a_trigger(random)
    found = trigger.after(instant)
    moment = trigger.next(to_datetime(instant))
    assert moment == (None if found is None else to_datetime(found))


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    with suppress(InvalidTrigger):
        parse(text)


@given(st.text(alphabet="0123456789*/,-?LWH#() @monjafrisu", max_size=30), st.integers(4, 6))
def test_any_mixture_of_the_right_characters_is_read_or_refused(text, count):
    fields = [text[i::count].replace(" ", "") or "*" for i in range(count)]
    try:
        trigger = Cron(" ".join(fields))
    except InvalidTrigger:
        return
    assert trigger.after(0) is not None
    assert trigger.explain()
    trigger.warnings()


@pytest.mark.parametrize("zone", ["UTC", *ZONES])
def test_asking_again_in_another_order_changes_nothing(zone):
    """What is remembered between calls may never show."""
    random = Random(zone)
    trigger = Cron("*/20 0-4 * * mon,sun", zone)
    moments = [random.randrange(4_000_000_000_000) for _ in range(180)]
    moments += [random.randrange(FIRST, FIRST + 10 * 86_400_000) for _ in range(20)]
    first = [trigger.after(moment) for moment in moments]
    order = list(range(200))
    random.shuffle(order)
    again = {index: trigger.after(moments[index]) for index in order}
    assert [again[index] for index in range(200)] == first
