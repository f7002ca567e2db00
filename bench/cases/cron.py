"""`Cron.next` against cronsim, parsed objects reused, on every expression that both take."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median
from zoneinfo import ZoneInfo

from cronsim import CronSim

from bench.figure import Figure
from bench.options import Options
from tickwell.domain.trigger import Cron

EXPRESSIONS = (
    "* * * * *",
    "* * * * * *",
    "*/5 * * * *",
    "0 9 * * 1-5",
    "0 0 29 2 *",
    "30 2 * * *",
    "*/10 * * * * *",
    "0 12 L * *",
    "0 9 * * 5L",
    "0 9 * * 1#2",
)
ZONES = ("UTC", "America/New_York")
START = datetime(2026, 11, 16, 12, 34, 56, tzinfo=UTC)
#: Fire times asked for in a row before starting again: 29 February must not reach the year 9999.
STEPS = 20
#: Seconds of CPU for each timing.
LONG = 0.02
BAR = 2.0


def measure(options: Options) -> list[Figure]:
    """The worst expression is the figure; all of them are in the details."""
    ratios = {
        (expr, zone): _ratio(expr, zone, rounds=3 * options.repeat)
        for expr in EXPRESSIONS
        for zone in ZONES
    }
    by_median = sorted(ratios, key=lambda key: median(r[0] for r in ratios[key]))
    worst = by_median[0]
    _, ours, theirs = sorted(ratios[worst])[len(ratios[worst]) // 2]
    return [
        Figure(
            name="cron: next, the worst expression",
            ours=f"{1 / ours:,.0f}/s, {worst[0]} in {worst[1]}",
            against=f"cronsim {1 / theirs:,.0f}/s",
            ratios=[ratio for ratio, _, _ in ratios[worst]],
            bar=BAR,
            details={
                f"{expr} {zone}": {
                    "ratio": median(r[0] for r in each),
                    "ours_per_second": 1 / min(r[1] for r in each),
                    "cronsim_per_second": 1 / min(r[2] for r in each),
                }
                for (expr, zone), each in ratios.items()
            },
        )
    ]


def _ratio(expr: str, zone: str, rounds: int) -> list[tuple[float, float, float]]:
    """Theirs by ours, and both in seconds of CPU for one fire time; interleaved."""
    walks = _our_walk(expr, zone), _their_walk(expr, zone)
    _expect_equal(expr, zone, *walks)
    timed = []
    for _ in range(rounds):
        ours, theirs = (_seconds(walk) for walk in walks)
        timed.append((theirs / ours, ours, theirs))
    return timed


def _our_walk(expr: str, zone: str) -> Callable[[], datetime]:
    rule = Cron(expr, tz=zone)
    start = START.astimezone(ZoneInfo(zone))

    def walk() -> datetime:
        at: datetime | None = start
        for _ in range(STEPS):
            assert at is not None
            at = rule.next(at)
        assert at is not None
        return at

    return walk


def _their_walk(expr: str, zone: str) -> Callable[[], datetime]:
    # cronsim knows UTC by the standard library's own object only.
    start = START if zone == "UTC" else START.astimezone(ZoneInfo(zone))
    rule = CronSim(expr, start)
    begin = rule.dt

    def walk() -> datetime:
        rule.dt = begin
        at = start
        for _ in range(STEPS):
            at = next(rule)
        return at

    return walk


def _expect_equal(
    expr: str, zone: str, ours: Callable[[], datetime], theirs: Callable[[], datetime]
) -> None:
    """A fast wrong answer is worth nothing."""
    if ours() != theirs():
        raise AssertionError(f"{expr} in {zone}: {ours()} is not cronsim's {theirs()}")


def _seconds(walk: Callable[[], datetime]) -> float:
    """CPU seconds for one fire time."""
    walks, begin = 0, time.process_time()
    while (taken := time.process_time() - begin) < LONG:
        walk()
        walks += 1
    return taken / (walks * STEPS)
