"""Reports of attempts, as the engine tells of them."""

from tickwell.domain.execution import Claim, Kind, OutcomeKind
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.policy import Retry
from tickwell.domain.trigger import OnDemand
from tickwell.testing.contract.builders import T0, a_job, fresh_id


def a_report(kind=OutcomeKind.SUCCEEDED, *, seconds=0.02, late=0, attempts=3, result=None, **job):
    """An attempt that started so late, and took so long."""
    made = a_job(trigger=OnDemand(), retry=Retry(max_attempts=attempts), **job)
    claim = Claim(
        fresh_id(), made, Kind.REQUEST, 1, 1, 0, 0, T0, T0, None, T0 + 60_000, "worker", "claim"
    )
    started = T0 + int(late * 1000)
    ended = Outcome(kind=kind, started_at=started, error="no", result=result)
    return decide(claim, ended, started + int(seconds * 1000))


def values_of(series, project=None):
    """What is counted, by name and labels; of histograms the number and the sum."""
    found: dict[tuple, float] = {}
    for sample in series.samples():
        if project not in {None, sample.project}:
            continue
        key = (sample.metric.name, *sample.labels)
        if len(sample.values) == 1:
            found[key] = found.get(key, 0) + sample.values[0]
        else:
            found[*key, "count"] = found.get((*key, "count"), 0) + sum(sample.values[:-1])
            found[*key, "sum"] = round(found.get((*key, "sum"), 0) + sample.values[-1], 6)
    return {key: value for key, value in found.items() if value}
