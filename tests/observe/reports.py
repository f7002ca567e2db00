"""Attempts that ended, as the engine tells of them."""

from tickwell.domain import event as events
from tickwell.domain.execution import Claim, Kind
from tickwell.domain.job import Job
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand


def finished(kind, charged=1, error="Traceback …\nOSError: no route", name="report"):
    """One report of this kind; with charged=3 the execution is dead."""
    job = Job(id="j", name=name, trigger=OnDemand(), target=Call("report"))
    claim = Claim(
        id="e1",
        job=job,
        kind=Kind.REQUEST,
        attempt=charged,
        charged=charged,
        lost=0,
        returned=0,
        fire_time=0,
        run_at=0,
        payload=None,
        deadline=0,
        worker="w",
        claim_id="c",
    )
    outcome = Outcome(kind=kind, started_at=1, error=error)
    return events.AttemptsFinished(reports=[decide(claim, outcome, 1000)])
