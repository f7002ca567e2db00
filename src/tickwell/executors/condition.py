"""Asks conditions: whether a fire runs, by a handler that is called or a URL that is requested."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from tickwell.domain.condition import LONGEST, is_url, request_of
from tickwell.domain.execution import Claim, OutcomeKind
from tickwell.domain.job import Job, copied
from tickwell.domain.outcome import Outcome
from tickwell.domain.target import Call
from tickwell.executors.call import CallExecutor
from tickwell.ports.store import HistoryStore

if TYPE_CHECKING:
    from tickwell.executors.http.executor import HttpExecutor

#: Before the error of a condition, which would be taken for that of the job otherwise.
_ASKED = "its only_if condition"


class AskedConditions:
    """`ports.executor.Conditions`: a request by GET, or a call of a handler of this process."""

    def __init__(
        self, store: HistoryStore, calls: CallExecutor, make_sender: Callable[[], HttpExecutor]
    ) -> None:
        self._store = store
        self._calls = calls
        self._make_sender = make_sender
        self._sender: HttpExecutor | None = None

    async def ask(self, claim: Claim) -> Outcome | None:
        if claim.attempt > 1 and await self._may_have_started(claim):
            return None  # what was begun goes on, whatever the condition says by now
        condition = claim.job.only_if or ""
        asked = self._request(claim, condition) if is_url(condition) else self._call(claim)
        outcome = Outcome(
            kind=OutcomeKind.TIMED_OUT, error=f"it did not answer within {LONGEST:g} s"
        )
        try:
            async with asyncio.timeout(LONGEST) as limit:
                answered = await asked
            # A thread cannot be stopped: what it answers later than that does not count.
            outcome = outcome if limit.expired() else answered
        except TimeoutError:
            pass
        if outcome.kind is OutcomeKind.SUCCEEDED:
            return _judged(outcome.result, by_url=is_url(condition))
        # Another attempt asks again; and nothing but the job's own target pauses the job.
        outcome.error = f"{_ASKED}: {outcome.error or outcome.kind}"
        outcome.pause, outcome.awaits, outcome.result = None, (), None
        return outcome

    async def refusal(self, job: Job) -> str:
        condition = job.only_if or ""
        if is_url(condition):
            why = await self._http().refusal(copied(job, target=request_of(condition)))
        else:
            known = self._calls.handlers.find(condition, job.project)
            why = "" if known else _unknown(condition)
        return f"{_ASKED}: {why}" if why else ""

    async def close(self) -> None:
        await self._calls.close()
        if self._sender is not None:
            await self._sender.close()

    async def _may_have_started(self, claim: Claim) -> bool:
        """Whether an attempt before this one got further than to ask."""
        found = await self._store.get_execution(claim.job.project, claim.id)
        return found is not None and any(
            each.started_at is not None or each.outcome is OutcomeKind.LOST
            for each in found.attempts
        )

    async def _request(self, claim: Claim, url: str) -> Outcome:
        job = copied(claim.job, target=request_of(url))
        return await self._http().run(replace(claim, job=job))

    async def _call(self, claim: Claim) -> Outcome:
        name = claim.job.only_if or ""
        handler = self._calls.handlers.find(name, claim.job.project)
        if handler is None:
            return Outcome(kind=OutcomeKind.RELEASED, error=_unknown(name), not_here=True)
        job = copied(claim.job, target=Call(name))
        return await self._calls.run(
            replace(claim, job=job, payload=handler.named_in(claim.payload))
        )

    def _http(self) -> HttpExecutor:
        if self._sender is None:
            self._sender = self._make_sender()
        return self._sender


def _unknown(handler: str) -> str:
    return f"this worker does not know the handler {handler!r}"


def _judged(result: Any, *, by_url: bool) -> Outcome | None:
    """What an answer means; None: the fire runs."""
    may_run = _may_run(result) if by_url else result
    if may_run is True:
        return None
    if may_run is False:
        return Outcome(kind=OutcomeKind.SKIPPED)
    return Outcome(
        kind=OutcomeKind.FAILED,
        error=f"{_ASKED} answered {result!r:.80}; it must return True or False",
        retry=False,
    )


def _may_run(answer: dict[str, Any]) -> bool:
    """A URL says no by 204, or by `{"run": false}`; any other success says yes."""
    if answer["status"] == HTTPStatus.NO_CONTENT:
        return False
    try:
        body = json.loads(answer["body"])
    except ValueError:
        return True
    return not (isinstance(body, dict) and body.get("run") is False)
