"""The span that requested a run, kept beside the execution until an attempt links to it."""

from __future__ import annotations

from tickwell.domain.execution import Claim, Kind, NewExecution
from tickwell.errors import StoreError
from tickwell.observe.traces import current_traceparent
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore

#: The kind of the records, by the execution's id.
TRIGGER_SPAN = "trigger_span"


async def keep_trigger(store: RecordStore, new: NewExecution, now: int) -> None:
    """Keep the current span of the caller, if there is one; the run does not depend on it."""
    traceparent = current_traceparent()
    if traceparent is None:
        return
    retention = new.job.retention
    record = Record(
        kind=TRIGGER_SPAN,
        project=new.job.project,
        key=new.id,
        document={"traceparent": traceparent},
        expires_at=new.run_at + max(retention.age, retention.dead),
    )
    try:
        await store.put_record(record, now)
    except StoreError:
        return  # the run itself meets it too, and says so


async def read_trigger(store: RecordStore, claim: Claim, now: int) -> str | None:
    """The span that requested an execution, if one did and was kept."""
    if claim.kind is not Kind.REQUEST:
        return None
    try:
        record = await store.get_record(TRIGGER_SPAN, claim.job.project, claim.id, now)
    except StoreError:
        return None
    return None if record is None else str(record.document["traceparent"])
