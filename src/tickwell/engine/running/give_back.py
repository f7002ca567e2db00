"""Gives claims back that this process missed, or that another worker can start sooner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tickwell.domain.execution import Claim, Kind

if TYPE_CHECKING:
    from tickwell.engine.claiming.lane import Lane
    from tickwell.engine.running.runner import Runner


def give_back_late(runner: Runner, run_at: int) -> None:
    """Look, when an instant has come, whether that is noticed in time."""
    runner.presence.was_due(run_at)
    if runner.presence.away is not None:
        give_back_missed(runner, runner.presence.away.since, runner.clock.now())


def give_back_missed(runner: Runner, since: int, now: int) -> None:
    """Release what was held for an instant at which this process stood still.

    Late beyond the grace, it is for the misfire policy to say whether it runs.
    """
    for attempt in runner.not_started():
        if attempt.start_signal is not None and is_missed(attempt.claim, since, now):
            runner.give_back(attempt)


def is_missed(claim: Claim, since: int, now: int) -> bool:
    """Whether it is a fire, never tried, that came due since then and is late beyond the grace."""
    if claim.kind is not Kind.FIRE or claim.charged > 1 or claim.lost or claim.returned:
        return False
    return since <= claim.run_at < now - claim.job.misfire.grace


def give_back_worst(runner: Runner, lane: Lane, most: int) -> list[str]:
    """Give back what waits for capacity and is more than can start in time; which."""
    returned = []
    for _ in range(min(most, lane.overfull())):
        attempt = lane.ready.pop()
        if attempt.is_waiting():
            runner.give_back(attempt)
            returned.append(attempt.claim.id)
    return returned
