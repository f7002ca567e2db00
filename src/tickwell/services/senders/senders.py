"""Adds and deletes the jobs that send callbacks and alerts, each with the secret of its name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job
from tickwell.domain.policy import Retry
from tickwell.domain.sender import sender_name
from tickwell.domain.target import Target
from tickwell.domain.trigger import OnDemand
from tickwell.errors import InvalidInput, InvalidJob, NotFound
from tickwell.services.jobs.jobs import Jobs
from tickwell.services.jobs.jobs_by_id import jobs_by_id
from tickwell.services.secrets.secrets import Secrets

#: Eight attempts in about an hour and a half.
RETRY = Retry(max_attempts=8, delay="10s", factor=3, cap="30m")


@contextmanager
def naming_url() -> Iterator[None]:
    """What is wrong with the target of a sender is wrong with the URL that a person entered."""
    try:
        yield
    except InvalidJob as error:
        raise InvalidJob(error.reason, field="url", hint=error.hint) from error


class Senders:
    """One job per callback and per channel."""

    def __init__(self, jobs: Jobs, vault: Secrets) -> None:
        self.jobs = jobs
        self._vault = vault

    async def add(
        self,
        kind: str,
        id: str,
        project: str,
        target: Target,
        *,
        secret: str | None,
        by: str,
        overlap: Overlap = Overlap.ALLOW,
    ) -> None:
        """Add the job, then keep its secret: a URL that may not be called is refused first."""
        name = sender_name(kind, id)
        job = Job(
            id=id,
            name=name,
            project=project,
            trigger=OnDemand(),
            target=target,
            retry=RETRY,
            overlap=overlap,
            tags=(kind,),
            description=f"Sends what a {kind} reports; to be rid of it, delete the {kind}.",
        )
        await self.jobs.add(job)
        if secret is None:
            return
        try:
            await self._vault.keep(project, name, secret, by=by)
        except InvalidInput:  # the project has as many secrets as it may have
            await self.jobs.delete(project, [id])
            raise

    async def delete(self, kind: str, id: str, project: str) -> None:
        """Delete both; what is under way is not sent any more."""
        await self._vault.forget(project, sender_name(kind, id))
        found = await jobs_by_id(self.jobs.store, project, [id])
        with suppress(NotFound):  # an admin deleted the job by hand
            await self.jobs.delete(project, [*found])
