"""Jobs declared in code: functions that stay callable and know how to be triggered."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import fields, replace
from difflib import get_close_matches
from typing import Any, Generic, ParamSpec, TypeVar

from tickwell.domain.document import job_to_document
from tickwell.domain.execution import Execution
from tickwell.domain.job import Job
from tickwell.errors import InvalidJob
from tickwell.executors.handlers import Handler

P = ParamSpec("P")
R = TypeVar("R")


class JobFunction(Generic[P, R]):
    """A decorated function: call it as before, or `trigger` it as a job."""

    def __init__(
        self,
        function: Callable[P, R],
        handler: Handler,
        request: Callable[[str, Any], Awaitable[Execution]],
    ) -> None:
        functools.update_wrapper(self, function)
        #: The name of the job and of its handler.
        self.name = handler.name
        self._function = function
        self._handler = handler
        self._request = request

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself; no job is involved."""
        return self._function(*args, **kwargs)

    async def trigger(self, *args: Any, **kwargs: Any) -> Execution:
        """Run it as a job, now, with these arguments."""
        payload = self._handler.payload(*args, **kwargs)
        return await self._request(self.name, payload)

    def __repr__(self) -> str:
        return f"<job {self.name!r}: {self._function!r}>"


#: The fields of a job that a declaration may set.
POLICIES = [
    field.name
    for field in fields(Job)
    if field.name
    not in {"id", "name", "trigger", "target", "project", "version", "saved_at", "created_at"}
]


def check_policies(given: Iterable[str]) -> None:
    """Name the policy that does not exist, and the one that was probably meant."""
    for policy in given:
        if policy not in POLICIES:
            near = get_close_matches(policy, POLICIES, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Known are {', '.join(POLICIES)}"
            raise InvalidJob("is not a policy of a job", field=policy, hint=hint)


def with_hash(job: Job) -> Job:
    """The job with a hash of its definition, to recognise it at the next start."""
    text = json.dumps(job_to_document(replace(job, id="", declared=None)), sort_keys=True)
    return replace(job, declared=hashlib.blake2b(text.encode(), digest_size=8).hexdigest())
