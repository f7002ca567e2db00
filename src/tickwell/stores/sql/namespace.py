"""What stands in the way of a new job: what other jobs are called."""

from __future__ import annotations

from dataclasses import dataclass

from tickwell.domain.job import Job
from tickwell.errors import JobExists, JobIdTaken
from tickwell.stores.sql.text import clean


@dataclass(slots=True)
class Namespace:
    """The ids, names and dedupe keys that are taken, by what is stored and by the batch itself."""

    #: The project of each id.
    ids: dict[str, str]
    #: By project.
    names: set[tuple[str, str]]
    #: By project: the id of the job that has the key.
    keys: dict[tuple[str, str | None], str]

    def known(self, job: Job) -> str | None:
        """The id of the job that this one is, if it is there already."""
        if job.dedupe_key:
            known = self.keys.get((job.project, clean(job.dedupe_key)))
            if known is not None:
                return known
        if job.id not in self.ids:
            return None
        if self.ids[job.id] != job.project:
            raise JobIdTaken(job.id)
        return job.id

    def take(self, job: Job) -> None:
        """Count a new one in, if its name is free."""
        if (job.project, job.name) in self.names:
            raise JobExists(job.name)
        self.names.add((job.project, job.name))
        self.ids[job.id] = job.project
        if job.dedupe_key:
            self.keys[job.project, clean(job.dedupe_key)] = job.id
