"""Unions and intersections in one another, each with confines, against a look at every fire."""

from datetime import datetime, timedelta
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.trigger.test_confines import a_calendar, a_window, is_open, is_out
from tickwell.clock import to_datetime
from tickwell.domain.trigger import AllOf, AnyOf, Cron, Every, Trigger
from tickwell.domain.trigger.several import Several
from tickwell.errors import InvalidTrigger

RULES = ["*/50 * * * *", "0 * * * *", "30 */5 * * *", "15 2 * * *", "0 12 * * mon"]
DAY = 86_400_000


def a_trigger(random: Random, second: int, depth: int) -> Trigger:
    begin = to_datetime(second * 1000)
    start = begin + timedelta(hours=random.randint(-50, 50)) if random.random() < 0.2 else None
    until = begin + timedelta(hours=random.randint(60, 300)) if random.random() < 0.2 else None
    within = [a_window(random) for _ in range(random.choice((0, 0, 1, 2)))]
    exclude = [a_calendar(random, begin.date()) for _ in range(random.choice((0, 0, 1)))]
    if depth and random.random() < 0.7:
        members = [a_trigger(random, second, depth - 1) for _ in range(random.randint(1, 4))]
        kind = AllOf if random.random() < 0.3 else AnyOf
        return kind(*members, start=start, until=until, within=within, exclude=exclude)
    zone, rule = random.choice(("UTC", "Europe/Berlin")), random.choice(RULES)
    if random.random() < 0.7:
        return Cron(rule, zone, start=start, until=until, within=within, exclude=exclude)
    return Every("7h13m", start=start, until=until, within=within, exclude=exclude)


def brute(trigger: Trigger, begin: int, end: int) -> dict[int, str]:
    """Every instant that a rule names, with "" where it fires."""
    answers = {}
    for instant, reasons in named(trigger, begin, end).items():
        moment = to_datetime(instant)
        if (trigger.start or moment) <= moment <= (trigger.until or moment):
            answers[instant] = judged(trigger, moment, reasons)
    return dict(sorted(answers.items()))


def named(trigger: Trigger, begin: int, end: int) -> dict[int, set[str]]:
    """Every instant that a rule names, with the answers of its members."""
    if isinstance(trigger, Several):
        each = [brute(member, begin, end) for member in trigger.members]
        join = set.union if isinstance(trigger, AnyOf) else set.intersection
        return {at: {some[at] for some in each if at in some} for at in join(*map(set, each))}
    bare = Cron(trigger.expr, trigger.tz) if isinstance(trigger, Cron) else Every("7h13m")
    return {instant: {""} for instant in bare.between(begin, end)}


def judged(trigger: Trigger, moment: datetime, reasons: set[str]) -> str:
    """Why it does not fire, or ""."""
    out = reasons - {""}
    if out and ("" not in reasons or isinstance(trigger, AllOf)):
        return min(out)
    if trigger.within and not any(is_open(w, moment) for w in trigger.within):
        return min({*out, "window"})
    closed = [f"calendar:{each.name}" for each in trigger.exclude if is_out(each, moment)]
    return min({*out, closed[0]}) if closed else ""


@given(st.randoms(use_true_random=False), st.integers(1_700_000_000, 1_900_000_000))
@settings(max_examples=150)
def test_exactly_what_passes_every_level_fires(random, second):
    try:
        trigger = a_trigger(random, second, 3)
    except InvalidTrigger:
        return
    begin, end = second * 1000, second * 1000 + 14 * DAY
    expected = brute(trigger, begin, end)
    fires = [instant for instant, reason in expected.items() if not reason]
    assert list(trigger.between(begin, end)) == fires
    assert dict(trigger.slots(begin, end)) == expected
    assert dict(trigger.excluded(begin, end)) == {t: why for t, why in expected.items() if why}
    for before, fire in zip([begin, *fires], fires, strict=False):
        assert trigger.after(before) == fire
        assert trigger.after(fire - 1) == fire
