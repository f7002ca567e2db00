"""The account of a run: expected fire times, the store's records, and the notes of processes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tickwell.domain.execution import Execution, OutcomeKind, State
from tickwell.ports.records import ExecutionFilter
from tickwell.ports.store import Store
from tickwell.testing.verify.notes import BEGIN, FENCED, Note

#: Outcomes that another attempt may follow.
_RETRIED = {
    OutcomeKind.LOST,
    OutcomeKind.RELEASED,
    OutcomeKind.FAILED,
    OutcomeKind.TIMED_OUT,
    OutcomeKind.SNOOZED,
}
#: The resolution of clocks, in milliseconds.
_TICK = 1
_PAGE = 1000


@dataclass(slots=True)
class Account:
    """Figures, and violations by promise."""

    fires: int = 0
    records: int = 0
    calls: int = 0
    #: Attempts of lost workers.
    lost_attempts: int = 0
    #: Late reports that were refused.
    refused: int = 0
    doubled: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    unfenced: list[str] = field(default_factory=list)


async def take(
    store: Store, fires: dict[str, list[int]], notes: Sequence[Note], latest: float
) -> Account:
    """Check the records of a run.

    `fires` are fire times by job; `latest` is an upper bound of the store's clock minus the
    monotonic clock, in seconds.
    """
    executions = await _read(store)
    calls: dict[str, list[Note]] = defaultdict(list)
    refused: dict[str, list[int]] = defaultdict(list)
    for note in notes:
        if note.what == BEGIN:
            calls[note.execution].append(note)
        elif note.what == FENCED:
            refused[note.execution].append(note.attempt)
    account = Account(
        fires=sum(map(len, fires.values())),
        records=len(executions),
        calls=sum(map(len, calls.values())),
        refused=sum(map(len, refused.values())),
    )
    account.doubled += _records(fires, executions)
    account.lost += _missing(fires, executions)
    account.doubled += [f"{id} was called, and has no record" for id in calls.keys() - executions]
    for id, execution in executions.items():
        _judge(account, execution, calls[id], refused[id], latest)
    return account


async def _read(store: Store) -> dict[str, Execution]:
    """All executions, with all attempts of those that have several."""
    found: dict[str, Execution] = {}
    cursor = None
    while True:
        page = await store.list_executions(ExecutionFilter(), cursor, limit=_PAGE)
        found |= {each.id: each for each in page.items}
        cursor = page.cursor
        if cursor is None:
            break
    for id, each in found.items():
        if each.attempt > 1:
            found[id] = await store.get_execution(each.project, id) or each
    return found


def _records(fires: dict[str, list[int]], executions: dict[str, Execution]) -> Iterator[str]:
    known = {(job, fire) for job, each in fires.items() for fire in each}
    slots = Counter((each.job_id, each.fire_time) for each in executions.values())
    for (job, fire), count in slots.items():
        if count > 1:
            yield f"{job} at {fire} has {count} records"
        if (job, fire) not in known:
            yield f"{job} has a record at {fire}, which is not one of its fire times"


def _missing(fires: dict[str, list[int]], executions: dict[str, Execution]) -> Iterator[str]:
    recorded = {(each.job_id, each.fire_time) for each in executions.values()}
    for job, each in fires.items():
        for fire in each:
            if (job, fire) not in recorded:
                yield f"{job} at {fire} has no record"


def _judge(
    account: Account,
    execution: Execution,
    calls: list[Note],
    refused: list[int],
    latest: float,
) -> None:
    """Compare one execution with its notes."""
    id, attempts = execution.id, Counter(note.attempt for note in calls)
    if execution.state is State.SUCCEEDED:
        if execution.attempt not in attempts:
            account.lost.append(f"{id} is recorded as succeeded, but no handler was called")
    elif not _was_given_up(execution):
        account.lost.append(f"{id} is {execution.state}, attempt {execution.attempt}")
    for number, count in attempts.items():
        if count > 1:
            account.unfenced.append(f"attempt {number} of {id} went to {count} processes")
    _judge_attempts(account, execution, refused)
    for note in calls:
        begun = (note.at + latest) * 1000 + _TICK
        if begun < execution.fire_time:
            account.early.append(f"{id} began {execution.fire_time - begun:.0f} ms early")


def _was_given_up(execution: Execution) -> bool:
    """Whether it is dead because each process that ran it was killed: that is a valid result."""
    outcomes = [each.outcome for each in execution.attempts]
    return execution.state is State.DEAD and outcomes[-1:] == [OutcomeKind.LOST]


def _judge_attempts(account: Account, execution: Execution, refused: list[int]) -> None:
    """Each further attempt needs an outcome of the previous one that allows it."""
    id = execution.id
    outcomes = {each.number: each.outcome for each in execution.attempts}
    for number in range(1, execution.attempt):
        account.lost_attempts += outcomes.get(number) is OutcomeKind.LOST
        if outcomes.get(number) not in _RETRIED:
            account.unfenced.append(
                f"attempt {number + 1} of {id} followed one that is {outcomes.get(number)}"
            )
    for number in refused:
        if number == execution.attempt and execution.state is State.SUCCEEDED:
            account.unfenced.append(
                f"the report of attempt {number} of {id} was refused, though it succeeded"
            )
