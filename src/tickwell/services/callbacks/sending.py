"""Sends a message to a callback: a run of the job that it has, once for each key."""

from __future__ import annotations

from typing import Any

from tickwell.domain.job import Job
from tickwell.errors import Conflict, NotFound
from tickwell.services.callbacks.callback import Callback
from tickwell.services.executions.executions import Executions


async def send(
    executions: Executions, project: str, callback: Callback, message: dict[str, Any], key: str
) -> str | None:
    """The id of the execution that sends it, or sent it before; None: the callback is gone."""

    def admit(job: Job) -> None:
        if job.id != callback.id:  # one of that name: what is told is not for it
            raise NotFound("job", callback.id)

    try:
        run = await executions.trigger(project, callback.id, payload=message, key=key, admit=admit)
    except (NotFound, Conflict):
        return None  # deleted meanwhile, or another process has told of it in other words
    return run.id
