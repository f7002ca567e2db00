"""Unions in unions, each with confines, against a filter that looks at every single fire."""

from datetime import timedelta
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.trigger.test_confines import a_calendar, a_window, is_open, is_out
from tickwell.clock import to_datetime
from tickwell.domain.trigger import Cron, Every, Trigger, Union
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
        return Union(*members, start=start, until=until, within=within, exclude=exclude)
    zone, rule = random.choice(("UTC", "Europe/Berlin")), random.choice(RULES)
    if random.random() < 0.7:
        return Cron(rule, zone, start=start, until=until, within=within, exclude=exclude)
    return Every("7h13m", start=start, until=until, within=within, exclude=exclude)


def brute(trigger: Trigger, begin: int, end: int) -> dict[int, str]:
    """Every instant that a rule names, with "" where it fires."""
    found: dict[int, set[str]] = {}
    if isinstance(trigger, Union):
        for member in trigger.members:
            for instant, reason in brute(member, begin, end).items():
                found.setdefault(instant, set()).add(reason)
    else:
        bare = Cron(trigger.expr, trigger.tz) if isinstance(trigger, Cron) else Every("7h13m")
        found = {instant: {""} for instant in bare.between(begin, end)}
    answers = {}
    for instant, reasons in found.items():
        moment = to_datetime(instant)
        if moment < (trigger.start or moment) or moment > (trigger.until or moment):
            continue
        if "" in reasons:
            reasons.discard("")
            if trigger.within and not any(is_open(w, moment) for w in trigger.within):
                reasons.add("window")
            elif out := [c for c in trigger.exclude if is_out(c, moment)]:
                reasons.add(f"calendar:{out[0].name}")
            else:
                reasons.add("")
        answers[instant] = min(reasons)
    return dict(sorted(answers.items()))


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
