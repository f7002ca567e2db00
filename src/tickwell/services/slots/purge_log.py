"""Fire times whose dead executions were purged: noted, so that nobody takes them for missed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tickwell.domain.execution import Execution, Kind
from tickwell.domain.policy import DAY
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore

KIND = "purged"
#: Milliseconds that a note is kept: by then the rest of the history is pruned.
KEPT = 366 * DAY


async def note(store: RecordStore, executions: Iterable[Execution], now: int) -> None:
    """Write down what is about to be purged."""
    fire_times: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for one in executions:
        if one.kind is Kind.FIRE:
            fire_times[one.project, one.job_id].append(one.fire_time)
    for (project, job), times in fire_times.items():
        record = Record(
            kind=KIND,
            project=project,
            key=f"{job}/{now:013}-{max(times)}",
            document={"fire_times": times},
            expires_at=now + KEPT,
        )
        await store.put_record(record, now)


async def purged_fire_times(store: RecordStore, project: str, job: str, now: int) -> set[int]:
    """Those of a job."""
    records = await store.list_records(KIND, project, f"{job}/", now)
    return {time for record in records for time in record.document["fire_times"]}
