"""What a seed decides: the shape of the system and its faults."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from random import Random

from tickwell.domain.seconds import Seconds
from tickwell.settings import Settings


class Fault(StrEnum):
    """What may go wrong."""

    #: A process is killed; another incarnation starts later.
    CRASH = "crash"
    #: A process is asked to stop, and started again.
    RESTART = "restart"
    #: A process is frozen, often for longer than its lease, and then continues.
    PAUSE = "pause"
    #: The store does not answer.
    OUTAGE = "outage"
    #: The store does not answer one process.
    CUT = "cut"
    #: All calls take long for a while.
    SLOWNESS = "slowness"
    #: The store's clock is set by two hours, to and fro.
    JUMP = "jump"
    #: The store's clock is set ahead by a year.
    YEAR = "year"
    #: Requests and replies are lost now and then.
    LOSS = "loss"
    #: Users pause, edit, cancel, revive, trigger and delete.
    PEOPLE = "people"
    #: Users pause and resume the project, and everything.
    PROJECT = "project"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Everything that is chosen before the first step."""

    seed: int
    nodes: int
    settings: Settings
    faults: frozenset[Fault]
    #: Virtual seconds with faults, and then without, on a healthy core.
    duration: float = 80.0
    recovery: float = 100.0
    jobs: int = 8
    #: Shares of calls.
    errors_before: float = 0.0
    errors_after: float = 0.0
    slow_calls: float = 0.0
    #: The maximum drift of the processes' clocks, as a fraction.
    drift: float = 0.0
    #: Seconds between faults, on average.
    calm: float = 12.0
    #: Handlers that one process only can run.
    exclusive: bool = False
    #: Jobs without a concurrency key have rates, and the first two share one.
    rated: bool = False


def scenario_of(seed: int, *, faults: frozenset[Fault] | None = None) -> Scenario:
    """Swarm: each seed has some of the faults, not all, so that none hides another."""
    random = Random(f"{seed}:scenario")
    rare = {Fault.YEAR: 0.1}
    # That one has tests of its own: the seeds of before stand for what they stood for.
    drawn = [fault for fault in Fault if fault != Fault.PROJECT.value]
    chosen = frozenset(fault for fault in drawn if random.random() < rare.get(fault, 0.45))
    if random.random() < 0.08:
        chosen = frozenset()
    chosen = chosen if faults is None else faults
    loss = 0.03 if Fault.LOSS in chosen else 0.0
    return Scenario(
        seed=seed,
        nodes=random.choice((1, 2, 2, 3, 3, 4)),
        settings=_settings(random),
        faults=chosen,
        duration=random.choice((40.0, 80.0, 120.0)),
        jobs=random.randint(4, 10),
        errors_before=loss * random.random(),
        errors_after=loss * random.random(),
        slow_calls=random.choice((0.0, 0.01, 0.03)),
        drift=random.choice((0.0, 0.0, 0.01)),
        calm=random.choice((4.0, 10.0, 25.0)),
        exclusive=random.random() < 0.2,
    )


def _settings(random: Random) -> Settings:
    beat = random.choice((1.0, 2.0, 4.0))
    horizon = random.choice((0.3, 1.0, 2.0, 5.0))
    lead = random.choice((0.0, 0.1, 0.5, 2.0))
    return Settings(
        store="memory://",
        capacity=random.choice((1, 2, 5, 100)),
        threads=random.choice((1, 3, 10)),
        horizon=Seconds(horizon),
        lead=Seconds(min(lead, horizon)),
        batch=random.choice((1, 3, 20, 500)),
        poll=Seconds(random.choice((1.0, 5.0))),
        lease=Seconds(beat * random.choice((3, 4, 6))),
        beat=Seconds(beat),
        sweep=Seconds(random.choice((1.0, 3.0))),
        drain_timeout=Seconds(random.choice((0.5, 5.0))),
        prune_every="1m",
    )
