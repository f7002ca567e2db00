"""Carries out `Http`: one attempt, one request, one deadline."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from tickwell.clock import Clock
from tickwell.domain.execution import Claim, OutcomeKind
from tickwell.domain.http import Http
from tickwell.domain.job import Job
from tickwell.domain.outcome import Outcome
from tickwell.domain.policy import RETURN_BUDGET, Delivery
from tickwell.errors import InvalidInput, StoreError
from tickwell.executors.http.client.deadline import Deadlines
from tickwell.executors.http.client.host_limit import Breakers, HostLimit
from tickwell.executors.http.network.guard import Guard, Refused
from tickwell.executors.http.network.resolver import PROJECT, Resolver, SystemResolver
from tickwell.executors.http.request.oauth import Refusal, Tokens
from tickwell.executors.http.request.plan import Credentials, Plan
from tickwell.executors.http.request.request import Request, build, build_plain
from tickwell.executors.http.request.values import NoSecrets, Sealed, Secrets, Unsendable, Values
from tickwell.executors.http.response.answer import Answer
from tickwell.executors.http.response.headers import stored_headers
from tickwell.executors.http.response.redaction import (
    NO_REDACTION,
    Redactor,
    make_redactor,
    off_loop,
)
from tickwell.executors.http.response.verdict import judge, says_of_host
from tickwell.ids import spread
from tickwell.ports.executor import Sort
from tickwell.ports.tracer import Tracer

if TYPE_CHECKING:
    from tickwell.executors.http.client.client import Client

MOST_PLANS = 10_000
#: Characters of a body up to which a plan is kept: ten thousand large ones would be gigabytes.
LARGEST_PLAN = 8 * 1024
#: Milliseconds, doubled with each return, after which an attempt that the host limit turned away
#: comes again.
RETURN_AFTER, LONGEST_RETURN = 1_000, 60_000


class HttpExecutor:
    """Sends webhooks."""

    def __init__(
        self,
        clock: Clock,
        guard: Guard,
        *,
        per_host: int = 20,
        breaker_failures: int = 20,
        breaker_rest: float = 30.0,
        resolver: Resolver | None = None,
        secrets: Secrets | None = None,
        make_context: Callable[[], ssl.SSLContext] = ssl.create_default_context,
        tracer: Tracer | None = None,
    ) -> None:
        self.guard = guard
        self.resolver = resolver or SystemResolver(monotonic=clock.monotonic)
        self._clock = clock
        self._secrets = secrets or NoSecrets()
        self._make_context = make_context
        self._tracer = tracer
        self._host_limit = HostLimit(per_host, clock.monotonic)
        self._breakers = Breakers(breaker_failures, breaker_rest, clock.monotonic)
        self._tokens = Tokens(guard, clock.monotonic)
        self._deadlines = Deadlines()
        self._plans: dict[tuple[str, int], Plan] = {}
        #: The guard has nothing against their scheme, port and literal address. Dials are judged
        #: anew.
        self._checked: set[str] = set()
        self._client: Client | None = None
        self._opening: asyncio.Lock | None = None
        self._loading: asyncio.Task[Client] | None = None

    def abilities(self) -> Mapping[Sort, frozenset[str]]:
        return {Sort.TASK: frozenset({"http"})}

    async def refusal(self, job: Job) -> str:
        try:
            plan = self._plan(job)
            await self.guard.own_addresses.look_up(self.resolver)
            for url in plan.dialled:
                self.guard.check_url(url)
            if plan.secrets:
                await self._secrets.get(job.project, plan.secrets)
        except (Refused, Sealed) as error:
            return str(error)
        except (InvalidInput, Unsendable, StoreError):
            return ""  # whatever it is, it is no matter of this process alone
        return ""

    def prepare(self, job: Job) -> None:
        """Load the client, and take the target apart: at the instant all would be late by it."""
        with contextlib.suppress(InvalidInput, Refused):  # the attempt says so
            self._plan(job)
        if self._client is None and self._loading is None:
            self._loading = asyncio.create_task(self._open())
            # Should it fail, the attempt meets the same and says so.
            self._loading.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def run(self, claim: Claim) -> Outcome:
        try:
            plan = self._plan(claim.job)
        except InvalidInput as error:
            return Outcome(kind=OutcomeKind.FAILED, error=str(error), retry=False)
        except Refused as error:
            return Outcome(kind=OutcomeKind.RELEASED, error=str(error), not_here=True)
        PROJECT.set(claim.job.project)
        host = plan.url.host
        client = self._client or await self._open()
        again = claim.job.delivery is Delivery.AT_LEAST_ONCE
        may_return = claim.returned < RETURN_BUDGET and again
        line = claim.job.project, plan.authority
        # What is sent once at most is not sent again and again: nothing to protect a host from.
        if again and (rest := self._breakers.wait(line)):
            return _stay_away(claim, host, rest, may_return=may_return)
        # One project that hangs there keeps no other from a host that both call.
        key = claim.job.project, host
        outcome = None
        try:
            if not await self._host_limit.enter(key, patient=not may_return):
                return _come_again(claim, host)
            try:
                outcome = await self._timed(client, plan, claim)
            finally:
                self._host_limit.leave(key)
            return outcome
        finally:
            self._note(line, outcome)

    async def _timed(self, client: Client, plan: Plan, claim: Claim) -> Outcome:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - only coroutines come here
        moment = self._deadlines.begin(task, plan.target.timeout / 1000)
        try:
            return await self._attempt(client, plan, claim)
        except asyncio.CancelledError:
            if not moment.was_missed(task):
                raise
            limit = f"{plan.target.timeout / 1000:g} s"
            return Outcome(
                kind=OutcomeKind.TIMED_OUT,
                error=f"{plan.url.host} did not answer in full within {limit}",
            )
        finally:
            self._deadlines.end(task, moment)

    def _note(self, line: tuple[str, str], outcome: Outcome | None) -> None:
        if outcome is not None and outcome.kind is OutcomeKind.SUCCEEDED:
            self._breakers.succeeded(line)
            return
        match says_of_host(outcome):
            case True:
                self._breakers.succeeded(line)
            case False:
                self._breakers.failed(line)
            case None:
                self._breakers.gave_up(line)

    async def close(self) -> None:
        """Hang up."""
        if self._loading is not None:
            self._loading.cancel()
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _attempt(self, client: Client, plan: Plan, claim: Claim) -> Outcome:
        redact, auth = NO_REDACTION, None
        try:
            if plan.origin not in self._checked:
                await self._check(plan)
            if plan.plain_url is not None:
                request = build_plain(plan, claim, plan.plain_url, self._clock.now())
            else:
                secrets = await self._fetch_secrets(plan, claim) if plan.secrets else {}
                values = Values(claim, secrets)
                auth = plan.credentials(values)
                shown = "" if auth is None else auth.shown.removeprefix("Basic ")
                redact = await make_redactor({*secrets.values(), shown})
                token = None if auth is None else await self._token(client, auth)
                request = build(plan, claim, values, self._clock.now(), token)
                if plan.target.auth is not None:
                    shown = request.headers["Authorization"].partition(" ")[2]
                    redact = await make_redactor({*secrets.values(), shown})
            carries = "traceparent" not in plan.header_names
            answer = await self._send(client, plan.target.url, request, carries=carries)
        except Unsendable as error:
            return await _failed(error, redact, retry=False)
        except (Refused, Sealed) as error:
            refused = await _failed(error, redact, retry=False)
            return Outcome(kind=OutcomeKind.RELEASED, error=refused.error, not_here=True)
        except StoreError as error:
            return Outcome(
                kind=OutcomeKind.SNOOZED, delay=RETURN_AFTER, error=f"its secrets: {error}"
            )
        except (client.failure, Refusal) as error:
            return await _failed(error, redact, retry=True)
        headers = stored_headers(answer.headers)
        if redact is NO_REDACTION:  # as for most: asking how much to search took 3 µs of each
            outcome = judge(answer, plan.target, self._clock.now, redact)
            outcome.result["headers"] = headers
            return outcome
        looks = redact.looks(len(answer.body), *map(len, headers.values()))
        outcome = await off_loop(looks, judge, answer, plan.target, self._clock.now, redact)
        outcome.result["headers"] = await off_loop(looks, _redacted, headers, redact)
        if answer.status == 401 and auth is not None and self._tokens.forget(auth):
            outcome.retry = True  # the token may have been revoked before its time
        return outcome

    async def _token(self, client: Client, auth: Credentials) -> str:
        return await self._tokens.get(auth, partial(self._send, client, auth.token_url))

    async def _send(
        self, client: Client, url: str, request: Request, *, carries: bool = False
    ) -> Answer:
        """Send it, in a span if spans are recorded; `url` is the one that may be shown."""
        if self._tracer is None:
            return await client.send(request)
        with self._tracer.request(request.method, url) as span:
            if carries:
                request.headers.update(span.headers())
            answer = await client.send(request)
            span.answered(answer.status)
        return answer

    async def _check(self, plan: Plan) -> None:
        await self.guard.own_addresses.look_up(self.resolver)
        self.guard.check_url(plan.url)
        if len(self._checked) >= MOST_PLANS:
            self._checked.clear()
        self._checked.add(plan.origin)

    async def _fetch_secrets(self, plan: Plan, claim: Claim) -> Mapping[str, str]:
        found = await self._secrets.get(claim.job.project, plan.secrets)
        missing = [name for name in plan.secrets if name not in found]
        if missing:
            raise Unsendable(f"there is no secret {missing[0]!r} in this project")
        return found

    def _plan(self, job: Job) -> Plan:
        key = (job.id, job.version)
        plan = self._plans.get(key)
        if plan is None:
            if not isinstance(job.target, Http):
                raise TypeError(f"{job.target!r} is not a webhook")
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            plan = Plan(job.target)
            for url in plan.dialled:
                self.guard.check_host(job.project, url.host)
            if plan.size <= LARGEST_PLAN:
                self._plans[key] = plan
        return plan

    async def _open(self) -> Client:
        """Load the client in a thread: a process that sends no webhook never pays for it."""
        self._opening = self._opening or asyncio.Lock()
        async with self._opening:
            if self._client is None:
                await asyncio.to_thread(import_module, "tickwell.executors.http.client.client")
                from tickwell.executors.http.client.client import Client  # noqa: PLC0415

                context = await asyncio.to_thread(self._make_context)
                self._client = Client(self.guard, self.resolver, context, self._make_context)
        return self._client


async def _failed(error: Exception, redact: Redactor, *, retry: bool) -> Outcome:
    error_text = str(error)
    error_text = await off_loop(redact.looks(len(error_text)), redact, error_text)
    return Outcome(kind=OutcomeKind.FAILED, error=error_text, retry=retry)


def _redacted(headers: dict[str, str], redact: Redactor) -> dict[str, str]:
    return dict(zip(headers, redact.each([*headers.values()]), strict=True))


def _stay_away(claim: Claim, host: str, rest: float, *, may_return: bool) -> Outcome:
    """The host only failed for a while: what is not sent costs the execution nothing."""
    wait = int(rest * 1000)
    return Outcome(
        kind=OutcomeKind.SNOOZED if may_return else OutcomeKind.FAILED,
        delay=wait + spread(f"{claim.id}:{claim.attempt}", wait // 4 + 1),
        error=f"circuit breaker open for {host} after repeated failures; retrying in {rest:.0f} s",
    )


def _come_again(claim: Claim, host: str) -> Outcome:
    """Nobody there answers: give the slot to a webhook for somebody else."""
    wait = min(RETURN_AFTER << claim.returned, LONGEST_RETURN)
    return Outcome(
        kind=OutcomeKind.SNOOZED,
        delay=wait + spread(f"{claim.id}:{claim.attempt}", wait // 2 + 1),
        error=f"{host} is not responding, and its limit of concurrent requests is reached",
    )
