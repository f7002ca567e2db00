"""The service's documents from rows."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from tickwell.domain.document import job_from_document
from tickwell.domain.job import Job
from tickwell.domain.policy import KEPT_VERSIONS
from tickwell.ports.records import Record

#: After every key that begins with what stands before it.
LAST = "\U0010ffff"

#: The kind of record that a former definition of a job is.
JOB_VERSION = "job_version"


def record_of(row: Any) -> Record:
    """The record of a row of `record` or `list_records`."""
    kind, project, key, document, version, expires_at = row
    return Record(
        kind=kind,
        project=project,
        key=key,
        document=json.loads(document),
        version=version,
        expires_at=expires_at,
    )


def version_key(job: Job) -> str:
    """Under which key a former definition is kept."""
    return f"{job.id}/{job.version:08}"


def until_next_look(beyond: int) -> int:
    """Milliseconds until the pruner looks again at a job with so many beyond what it keeps.

    Dead letters have a time of their own: with many of them it always is beyond, and all of them
    are passed over at each look.
    """
    return 5 * max(beyond - 1000, 0)


def old_span(id: str, version: int) -> tuple[str, str]:
    """The keys of former definitions that may be old, and of the first that is kept by number."""
    return f"{id}/", f"{id}/{version - KEPT_VERSIONS:08}"


def unneeded(rows: list[Any], edge: int) -> list[str]:
    """Of keys and documents, oldest first: those that were replaced before an instant."""
    gone = []
    for (key, _), (_, successor) in pairwise(rows):
        try:
            replaced_at = job_from_document(json.loads(successor)).saved_at
        except Exception:  # noqa: BLE001 - one that cannot be read here is left to others
            break
        if replaced_at >= edge:
            break
        gone.append(key)
    return gone
