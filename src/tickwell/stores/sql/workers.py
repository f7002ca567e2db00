"""Workers as documents."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from tickwell.domain.worker import Liveness, Owned, Refusal, Worker


def worker_to_json(worker: Worker) -> str:
    """The worker as its row holds it."""
    return json.dumps(asdict(worker))


def liveness_of(row: Any) -> Liveness:
    """The worker of a row of `list_workers`, and how it is."""
    document, beat, seen_at, lost = row
    fields = json.loads(document)
    fields["queues"], fields["abilities"] = tuple(fields["queues"]), tuple(fields["abilities"])
    fields["roles"] = tuple(fields.get("roles", ("worker",)))
    fields["refusals"] = tuple(Refusal(**each) for each in fields.get("refusals", ()))
    return Liveness(worker=Worker(**fields), beat=beat, seen_at=seen_at, lost=bool(lost))


def owned_of(row: Any) -> Owned:
    """What a worker holds, from a row of `owned`."""
    id, attempt, claim_id, cancel, why = row
    return Owned(id=id, attempt=attempt, claim_id=claim_id, cancel=bool(cancel), why=why or None)
