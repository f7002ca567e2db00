"""The outbox of a job: changes of other documents, stored with the job until they are applied.

Any process may apply it. Each step takes effect once, however often it is repeated: a new document
has its id, a change names the revision that it starts from, a permit its holder.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pymongo import UpdateOne

from tickwell.domain.execution import RangeSkip
from tickwell.stores.mongo.codec import REASON_CODE, REASONS
from tickwell.stores.mongo.database import Document

#: The field of an execution with its steps, of which a change sets some.
STEPS = "steps"


@dataclass(slots=True, kw_only=True)
class Event:
    """Something that happened at a concurrency gate."""

    gate: str
    #: The job whose write records it; empty: the only job of the workspace.
    job: str = ""
    #: A permit that was returned.
    permit: str | None = None
    #: An execution that asks to enter.
    arriving: str | None = None
    #: By when a permit of a rate may be used that is given now.
    until: int = 0
    #: When the permit of a rate that was returned can be had again.
    back_at: int = 0


@dataclass(slots=True)
class Update:
    """A change of an execution, from one revision to the next."""

    id: str
    rev: int
    set: Document
    unset: list[str]

    @classmethod
    def of(cls, id: str, rev: int, update: Document) -> Update:
        """From a result of `diff`."""
        return cls(id, rev, update.get("$set", {}), [*update.get("$unset", ())])

    def write(self) -> UpdateOne:
        """The write, which takes effect at that revision only."""
        change: dict[str, Any] = {"$inc": {"rev": 1}, "$unset": {"frozen": ""}}
        change["$unset"].update(dict.fromkeys(self.unset, ""))
        steps = self.set.get(STEPS, {})
        fields = {name: value for name, value in self.set.items() if name != STEPS}
        fields |= {f"{STEPS}.{key}": step for key, step in steps.items()}
        if fields:
            change["$set"] = fields
        return UpdateOne({"_id": self.id, "rev": self.rev}, change)


@dataclass(slots=True)
class Outbox:
    """What one write of a job leaves to be applied."""

    new: list[Document] = field(default_factory=list)
    set: list[Update] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    skips: list[RangeSkip] = field(default_factory=list)
    records: list[Document] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def __bool__(self) -> bool:
        parts = (self.new, self.set, self.drop, self.skips, self.records, self.events)
        return any(parts)

    def document(self, op: str) -> Document:
        """As stored in the job's document; empty parts are left out."""
        parts = {
            "new": self.new,
            "set": [[each.id, each.rev, each.set, each.unset] for each in self.set],
            "drop": self.drop,
            "skips": skip_documents(self.skips, op),
            "records": self.records,
            "events": [
                [each.gate, each.permit, each.arriving, each.until, each.back_at]
                for each in self.events
            ],
        }
        return {"op": op} | {name: part for name, part in parts.items() if part}


def updates_of(doc: Document) -> list[Update]:
    """The changes of executions in an outbox."""
    return [Update(*each) for each in doc.get("set", ())]


def events_of(doc: Document) -> list[Event]:
    """The events at concurrency gates in an outbox."""
    return [
        Event(gate=gate, permit=permit, arriving=arriving, until=until, back_at=back_at)
        for gate, permit, arriving, until, back_at in doc.get("events", ())
    ]


def skip_of(doc: Document) -> RangeSkip:
    """The range skip of a document."""
    return RangeSkip(
        job_id=doc["job"],
        first=doc["first"],
        last=doc["last"],
        count=doc["count"],
        reason=REASONS[doc["reason"]],
    )


def skip_documents(skips: list[RangeSkip], op: str) -> list[Document]:
    """Range skips, with ids from the operation, so that each is recorded once."""
    return [
        {
            "_id": f"{skip.job_id}/{op}/{number}",
            "job": skip.job_id,
            "first": skip.first,
            "last": skip.last,
            "count": skip.count,
            "reason": REASON_CODE[skip.reason],
        }
        for number, skip in enumerate(skips)
    ]
