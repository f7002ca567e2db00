"""Coverage: whether a live worker can run an execution, and if none can, why not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Protocol

from tickwell.domain.ability import CELERY, EXTERNAL, HTTP, handler_of, is_able
from tickwell.domain.execution import RangeSkip, Reason
from tickwell.domain.job import Job
from tickwell.domain.worker import Liveness, Worker


def uncovered(job: Job, skip: RangeSkip, known: Sequence[RangeSkip]) -> list[RangeSkip]:
    """What of a new range of the job no known range has answered already.

    A note, which counts nothing, is divided where it has been: what it covers is on record.
    """
    touching = [
        one
        for one in known
        if one.first <= skip.last and one.last >= skip.first and _answers(one, job, skip)
    ]
    if not touching:
        return [skip]
    fires = [skip.first]
    if not job.trigger.follows_finish:
        fires = list(job.trigger.between(skip.first - 1, skip.last))
    answered = within(fires, touching)
    if not skip.count:
        runs = groupby(fires, lambda at: at not in answered)
        parts = [list(run) for is_new, run in runs if is_new]
        return [replace(skip, first=part[0], last=part[-1]) for part in parts]
    left = [at for at in fires if at not in answered]
    count = skip.count - len(answered)
    return [replace(skip, first=left[0], last=left[-1], count=count)] if left and count > 0 else []


def planned_ahead(job: Job, first: int, last: int) -> RangeSkip:
    """A note that fires to come have rows, though the cursor goes back over them.

    The next plan may come when they are late, or passed by a pause: no range is to count them.
    """
    return RangeSkip(job_id=job.id, first=first, last=last, count=0, reason=Reason.WITHDRAWN)


def _answers(known: RangeSkip, job: Job, skip: RangeSkip) -> bool:
    """What is planned ahead can still be recalled, and by an edit it is planned anew."""
    is_ahead = known.count == 0 and known.reason is Reason.WITHDRAWN
    return not is_ahead or (skip.count > 0 and job.saved_at < known.first)


def within(fire_times: Iterable[int], ranges: Sequence[RangeSkip]) -> frozenset[int]:
    """The fire times that one of the ranges covers."""
    return frozenset(at for at in fire_times if any(one.first <= at <= one.last for one in ranges))


#: What a gap begins with where workers could run the job and may not.
REFUSED = "no live worker may run it"
#: What a worker does with each kind of target that needs no handler.
_WHAT = {
    HTTP: "sends webhooks",
    CELERY: "sends Celery tasks: set broker and celery_tasks for one",
}


class Runnable(Protocol):
    """The fields of an execution that decide which workers can run it."""

    @property
    def queue(self) -> str:
        """The queue that workers claim it from."""
        ...

    @property
    def ability(self) -> str:
        """The handler or kind of target that its worker must support."""
        ...

    @property
    def job_id(self) -> str:
        """The job, which a worker may refuse."""
        ...

    @property
    def job_version(self) -> int:
        """The version of the job; a refusal holds for one version."""
        ...


class Coverage:
    """What live workers can run, by the queues that they serve."""

    def __init__(self, workers: Iterable[Liveness]) -> None:
        self._workers = [each.worker for each in workers if not each.lost]
        #: By queue and ability: asked once for all executions of a lane.
        self._able: dict[tuple[str, str], list[Worker]] = {}
        self._refusals = {
            (worker.id, refusal.job, refusal.version): refusal.why
            for worker in self._workers
            for refusal in worker.refusals
        }

    def gap(self, execution: Runnable) -> str:
        """Why no live worker can run it; empty: one can."""
        if execution.ability == EXTERNAL:  # what runs outside needs no worker
            return ""
        able = self._able_in(execution.queue, execution.ability)
        if not able:
            return self._missing(execution.queue, execution.ability)
        if not self._refusals:
            return ""
        refused = execution.job_id, execution.job_version
        reasons = [self._refusals.get((worker.id, *refused)) for worker in able]
        return "" if None in reasons else f"{REFUSED}: {reasons[0]}"

    @property
    def refuses(self) -> bool:
        """Whether any live worker refuses a job."""
        return bool(self._refusals)

    def serves(self, queue: str) -> bool:
        """Whether a live worker takes from the queue."""
        return any(queue in each.queues for each in self._workers)

    def lane_gap(self, queue: str, ability: str) -> str:
        """Why no live worker of the queue has the ability; empty: one has."""
        if ability == EXTERNAL or self._able_in(queue, ability):
            return ""
        return self._missing(queue, ability)

    def _able_in(self, queue: str, ability: str) -> list[Worker]:
        able = self._able.get((queue, ability))
        if able is None:
            serving = [each for each in self._workers if queue in each.queues]
            able = [each for each in serving if is_able(ability, each.abilities)]
            self._able[queue, ability] = able
        return able

    def _missing(self, queue: str, ability: str) -> str:
        if not self.serves(queue):
            return f"no live worker serves queue {queue!r}"
        what = _WHAT.get(ability, f"knows handler {handler_of(ability)!r}")
        if any(is_able(ability, each.abilities) for each in self._workers):
            return f"no live worker of queue {queue!r} {what}"
        return f"no live worker {what}"
