"""How the jobs are recognized that send callbacks and alerts: by a name that no other job gets."""

from __future__ import annotations

import re

from tickwell.domain.job import Job

CALLBACK, CHANNEL = "callback", "channel"
#: What such a name begins with, before the id of the job.
KINDS = (CALLBACK, CHANNEL)
#: A template that names the secret of a callback or of a channel.
SENDER_SECRET = re.compile(rf"\bsecret\.(?:{'|'.join(KINDS)})-[0-9a-f]{{8}}-")


def sender_name(kind: str, id: str) -> str:
    """The name of the job that sends it, and of its secret."""
    return f"{kind}-{id}"


def is_sender(job: Job) -> bool:
    """Whether a job sends callbacks or alerts, and so only admins may change it."""
    return is_sender_name(job.name, job.id)


def is_sender_name(name: str, id: str) -> bool:
    """The same by its name and id. No other job gets such a name: `services.jobs.admission`."""
    return name in {sender_name(kind, id) for kind in KINDS}
