"""`H` spreads jobs, and each keeps its place."""

from collections import Counter

import pytest

from tickwell.domain.trigger import AnyOf, Cron, Every, Window
from tickwell.errors import InvalidTrigger


def bound(expr: str, seed: str) -> list[str]:
    return Cron(expr).bound(seed).expr.split()


def test_the_same_seed_chooses_the_same_for_ever():
    assert Cron("H H * * *").bound("job-1").expr == "44 17 * * *"
    assert Cron("H H * * *").bound("job-1") == Cron("H H * * *").bound("job-1")
    assert Cron("H H * * *").bound("job-1") != Cron("H H * * *").bound("job-2")


def test_unbound_it_fires_as_with_an_empty_seed():
    trigger = Cron("H H(0-5) * * *")
    assert trigger.after(0) == trigger.bound("").after(0)
    assert trigger.expr == "H H(0-5) * * *"


def test_jobs_are_spread_over_the_hour():
    minutes = Counter(bound("H * * * *", f"job-{n}")[0] for n in range(6000))
    assert len(minutes) == 60
    assert max(minutes.values()) < 2 * min(minutes.values())


@pytest.mark.parametrize(
    ("expr", "place", "allowed"),
    [
        ("H * * * * *", 0, range(60)),
        ("H(0-29) * * * *", 0, range(30)),
        ("0 h * * *", 1, range(24)),
        ("0 0 H * *", 2, range(1, 29)),
        ("0 0 H(1-31) * *", 2, range(1, 32)),
        ("0 0 1 H *", 3, range(1, 13)),
        ("0 0 * * H", 4, range(7)),
        ("0 0 * * H(mon-fri)", 4, range(1, 6)),
    ],
)
def test_what_is_chosen_is_in_range(expr, place, allowed):
    chosen = {int(bound(expr, f"job-{n}")[place]) for n in range(1000)}
    assert chosen == set(allowed)


def test_a_step_starts_anywhere_in_its_first_stretch():
    chosen = {bound("H/15 * * * *", f"job-{n}")[0] for n in range(200)}
    assert chosen == {f"{start}-59/15" for start in range(15)}
    chosen = {bound("H(0-29)/10 * * * *", f"job-{n}")[0] for n in range(200)}
    assert chosen == {f"{start}-29/10" for start in range(10)}


def test_halves_of_the_hour_are_half_an_hour_apart():
    first, second = bound("H(0-29),H(30-59) * * * *", "job-1")[0].split(",")
    assert int(second) - int(first) == 30


def test_it_never_chooses_a_day_that_never_comes():
    for n in range(300):
        assert Cron("0 0 31 H *").bound(f"job-{n}").after(0) is not None


@pytest.mark.parametrize("window", [Window("*", "09:00", "17:00"), Window("*", "05:00", "06:00")])
def test_it_chooses_inside_the_windows(window):
    trigger = Cron("H H * * *", "Europe/Rome", within=[window])
    for n in range(40):
        assert trigger.bound(f"job-{n}").after(0) is not None
    assert trigger.after(0) == trigger.bound("").after(0)


def test_windows_that_no_choice_can_meet_are_refused():
    with pytest.raises(InvalidTrigger, match="never fires"):
        Cron("H 5 * * *", within=[Window("*", "09:00", "17:00")])


def test_the_rest_of_the_trigger_is_kept():
    trigger = Cron("H 9 * * *", "Europe/Rome", dst_gap="skip", max_runs=3, jitter="5ms")
    changed = trigger.bound("x")
    assert (changed.tz, changed.dst_gap, changed.max_runs, changed.jitter) == (
        "Europe/Rome",
        "skip",
        3,
        5,
    )


def test_nothing_to_bind_returns_itself():
    for trigger in (Cron("0 9 * * thu"), Every("5m"), Cron("0 9 * * *") | Every("5m")):
        assert trigger.bound("x") is trigger


def test_members_of_a_union_are_bound():
    union = AnyOf(Cron("H * * * *"), Every("1d"), max_runs=2)
    changed = union.bound("job-1")
    assert changed.members == (Cron("H * * * *").bound("job-1"), Every("1d"))
    assert changed.max_runs == 2
