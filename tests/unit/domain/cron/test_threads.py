"""One rule answers all triggers with its expression, in all threads."""

from datetime import UTC, datetime

import pytest

from tickwell.domain.cron.expression import read, split
from tickwell.domain.cron.rule import Rule, SecondRule


def second(year, month, day, hour=0):
    return int(datetime(year, month, day, hour, tzinfo=UTC).timestamp())


def look(rule):
    """Each look may find what another thread has made of it since the one before."""
    return rule.seen.pop(0) if len(rule.seen) > 1 else rule.seen[0]


def turn(rule, month):
    rule.seen = [month]


@pytest.mark.parametrize(("kind", "text"), [(Rule, "0 9 * * *"), (SecondRule, "*/30 0 9 * * *")])
def test_a_month_that_another_thread_turns_to_is_not_jumped_over(kind, text):
    shared = type("Shared", (kind,), {"_month": property(look, turn)})
    rule = shared(read(split(text)))
    january, march = rule._enter(2025 * 12), rule._enter(2025 * 12 + 2)
    rule.seen = [march, january]
    assert rule.at_or_after(second(2025, 1, 5)) == second(2025, 1, 5, 9)
