"""The service's documents from rows."""

from __future__ import annotations

import json
from typing import Any

from tickwell.domain.job import Job
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
