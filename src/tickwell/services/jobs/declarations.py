"""Jobs that code declares: a stamp tells a change of the code from an edit by a person."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

from tickwell.domain.document import job_to_document
from tickwell.domain.job import Job, copied

#: Why a job is paused that code declared before and declares no more.
GONE = "gone from code"


def stamped(job: Job) -> Job:
    """The job with a hash of its definition, to recognise it at the next start."""
    return replace(job, declared=_stamp(job))


def is_edited(job: Job) -> bool:
    """Whether a person changed what code declares; that wins until the code changes again."""
    return job.declared is not None and job.declared != _stamp(job)


def _stamp(job: Job) -> str:
    plain = copied(
        job,
        id="",
        trigger=job.trigger.bound(f"{job.project}/{job.name}"),
        declared=None,
        version=1,
        saved_at=0,
        created_at=0,
    )
    text = json.dumps(job_to_document(plain), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
