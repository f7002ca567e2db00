"""What commands ask for, whoever answers: a store, or a server over its API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from tickwell.cli.administration import Administration
from tickwell.domain.document.initial_state import ACTIVE, InitialState
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.services.executions.dead_letters import DeadFilter
from tickwell.services.payload import KEEP

Document = dict[str, Any]
#: What is told of a revival that has ended: how many run again, how many not, and why, by job.
COUNTED = ("revived", "left_out", "refused")


class Backend(Protocol):
    """The seam of the command line: commands know this and nothing behind it.

    Answers are documents in the JSON schema of the API (`tickwell.services.documents`), and each
    method is one of its routes, so that output is the same whoever answers;
    `tickwell.cli.command.connect` chooses by the options that all commands share. Keys are names or
    ids of jobs, instants are milliseconds. A filter without a project means the project of the
    backend, and its `job_id` may be a name. Errors are those of `tickwell.errors`; bad input
    changes nothing. Nothing is opened before the first call, and `close` may come without one.
    """

    async def close(self) -> None:
        """Let go of connections."""
        ...

    async def now(self) -> int:
        """The time of whoever answers."""
        ...

    async def wait(self, seconds: float) -> None:
        """Rest until something may have changed, or for so long."""
        ...

    def allow_local(self) -> None:
        """Let webhooks of jobs that are saved go to this machine, as `serve --allow-local` does."""
        ...

    async def jobs_add(
        self, document: Document, state: InitialState = ACTIVE
    ) -> tuple[Document, bool]:
        """Add a job; answers its `entry_document`, and whether it is new."""
        ...

    async def jobs_list(self, where: JobFilter, cursor: str | None, limit: int) -> Document:
        """A `page_document` of `entry_document`s, by name."""
        ...

    async def jobs_get(self, key: str) -> Document:
        """One `entry_document`."""
        ...

    async def jobs_edit(
        self, key: str, document: Document, expected_version: int | None
    ) -> Document:
        """Replace the definition; answers a `changed_document`."""
        ...

    async def jobs_pause(self, key: str, *, why: str, until: int | None) -> Document:
        """Stop firing; answers a `changed_document`."""
        ...

    async def jobs_resume(self, key: str) -> Document:
        """Fire again; answers a `changed_document`."""
        ...

    async def jobs_delete(self, key: str) -> Document:
        """Take a job away; answers a `changed_document`."""
        ...

    async def jobs_trigger(
        self, key: str, *, payload: Any, run_at: int | None, once_key: str | None
    ) -> tuple[Document, bool]:
        """Run a job; answers the `execution_document`, and whether it is new."""
        ...

    async def jobs_next(self, key: str, count: int) -> Document:
        """The next fire times: {"items": [instants as text]}."""
        ...

    async def jobs_slots(self, key: str, since: int, until: int) -> Document:
        """Every fire time of a range with its answer: a `slots_document`."""
        ...

    async def backfill(
        self, key: str, since: int, until: int, *, force: bool, dry_run: bool
    ) -> Document:
        """Run the slots that have not run, or count them: a `backfill_document`."""
        ...

    async def executions_list(
        self, where: ExecutionFilter, cursor: str | None, limit: int
    ) -> Document:
        """A `page_document` of `execution_document`s, newest first."""
        ...

    async def executions_get(self, id: str) -> Document:
        """One `execution_document` with its attempts."""
        ...

    async def executions_output(self, id: str, attempt: int, line: int) -> Document:
        """Its lines from one on: a `tail_document`."""
        ...

    async def executions_cancel(self, id: str) -> Document:
        """Cancel; answers its `execution_document`."""
        ...

    async def executions_revive(self, id: str) -> Document:
        """Revive; answers its `execution_document`."""
        ...

    async def executions_repeat(self, id: str, payload: Any) -> Document:
        """Revive with another payload, as a new execution: its `execution_document`."""
        ...

    async def dead_groups(self, where: DeadFilter) -> Document:
        """Dead letters by what went wrong: `groups_document`."""
        ...

    async def dead_revive(
        self,
        where: DeadFilter,
        *,
        rate: float,
        progress: Callable[[int], None],
        payload: Any = KEEP,
    ) -> Document:
        """Revive all that match, so many a second at most; answers what `COUNTED` names.

        With a payload: repeat them with it.
        """
        ...

    async def dead_purge(self, where: DeadFilter, *, progress: Callable[[int], None]) -> Document:
        """Delete all that match for good; answers {"purged": count}."""
        ...

    async def workers(self) -> Document:
        """{"items": [`worker_document`]}."""
        ...

    async def metrics(self) -> Document:
        """Rates, errors and percentiles of the last minutes: a `metrics_document`."""
        ...

    async def queues_list(self) -> Document:
        """{"items": [`queue_document`]}."""
        ...

    async def queues_pause(self, name: str, *, why: str) -> Document:
        """Let workers take nothing more from it; answers as `queues_list`."""
        ...

    async def queues_resume(self, name: str) -> Document:
        """Let workers take from it again; answers as `queues_list`."""
        ...

    async def administration(self) -> Administration:
        """Users, projects, keys and secrets."""
        ...

    async def checkup(self, *, fix: bool) -> Document:
        """What is wrong: {"items": [`finding_document`]}; `fix` repairs what can be."""
        ...
