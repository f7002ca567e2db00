"""Sends a message: a run of the job that is there for it, once for each key."""

from __future__ import annotations

from typing import Any

from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job
from tickwell.errors import Conflict, NotFound
from tickwell.services.executions.executions import Executions


async def send(
    executions: Executions,
    project: str,
    sender: str,
    message: dict[str, Any],
    key: str,
    *,
    overlap: Overlap = Overlap.ALLOW,
) -> str | None:
    """The id of the execution that sends it, or sent it before; None: the sender is deleted."""

    def admit(job: Job) -> None:
        if job.id != sender:  # one of that name: what is reported is not for it
            raise NotFound("job", sender)

    try:
        run = await executions.trigger(
            project, sender, payload=message, key=key, overlap=overlap, admit=admit
        )
    except (NotFound, Conflict):
        return None  # deleted meanwhile, or another process has sent it in other words
    return run.id
