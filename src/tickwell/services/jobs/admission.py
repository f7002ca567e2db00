"""Which jobs may be saved: webhooks only where the guard would let them out, and none for ever."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from tickwell.domain.celery import Celery
from tickwell.domain.check_in import dialled
from tickwell.domain.condition import is_url
from tickwell.domain.external import External
from tickwell.domain.http import Http, OAuth
from tickwell.domain.http.url import parse_url
from tickwell.domain.job import Job
from tickwell.domain.naming import is_name
from tickwell.domain.policy import DAY, Misfire, OnMisfire
from tickwell.domain.sender import KINDS, is_sender
from tickwell.domain.target import DEFAULT_RULES, Call, why_forbidden
from tickwell.errors import InvalidJob
from tickwell.executors.http.network.guard import Guard, Refused, check_unresolved
from tickwell.executors.http.network.resolver import PROJECT, Resolver, SystemResolver
from tickwell.executors.http.tls.client_key import Unusable, checked_pem
from tickwell.services.redaction.masking import masked_url
from tickwell.services.time import Time
from tickwell.services.ttl_cache import TtlCache
from tickwell.settings import Settings

#: A scheme, a host and a port.
_Origin = tuple[str, str, int]


class Admission:
    """Refuses what no attempt could send, before anything is written; every dial asks again."""

    def __init__(
        self,
        guard: Guard,
        resolver: Resolver,
        clock: Time,
        *,
        longest: float = 0,
        rules: Sequence[str] = DEFAULT_RULES,
    ) -> None:
        self._guard = guard
        self._resolver = resolver
        #: Seconds that a hard timeout may have; 0: any.
        self._longest = longest
        #: Which project may send which Celery tasks.
        self._rules = rules
        #: Origins that were found good a moment ago: a thousand jobs for one host ask once.
        self._good: TtlCache[_Origin, bool] = TtlCache(clock)

    async def __call__(self, jobs: Sequence[Job]) -> None:
        """Raise `InvalidJob` for the first address that may not be called, or long timeout."""
        # A thousand jobs of one request may share one target, which is asked about once.
        alike: dict[int, Job] = {}
        for job in jobs:
            PROJECT.set(job.project)  # its lookups count for it
            self._check_timeout(job)
            check_condition(job)
            check_task(job, self._rules)
            check_hosts(job, self._guard)
            addresses = [*_addresses(job)] if job.only_if or job.check_in else []
            if alike.setdefault(id(job.target), job) is job:
                check_certificate(job)
                addresses = [*_addresses(job)]
            for text, field in addresses:
                url = parse_url(text, field)
                origin = url.scheme, url.host, url.port
                await self._good.get(origin, partial(self._check, text, field))

    def _check_timeout(self, job: Job) -> None:
        seconds, longest = job.timeout.hard / 1000, self._longest
        if longest and seconds > longest and not isinstance(job.target, External):
            raise InvalidJob(
                f"{seconds:,.0f} s is longer than the maximum of {longest:,.0f} s",
                field="timeout.hard",
                hint="Set a smaller value, or raise the setting max_timeout",
            )

    async def _check(self, text: str, field: str) -> bool:
        await check_unresolved(text, self._guard, self._resolver, field=field)
        return True


def admission(clock: Time, settings: Settings) -> Admission:
    """As the settings say."""
    return Admission(
        Guard.of(settings),
        SystemResolver(),
        clock,
        longest=settings.max_timeout,
        rules=settings.celery_tasks,
    )


def check_task(job: Job, rules: Sequence[str]) -> None:
    """Refuse a Celery task that the job's project may not send."""
    if isinstance(job.target, Celery):
        why = why_forbidden(rules, job.project, job.target.task)
        if why:
            reason, _, hint = why.partition(". ")
            raise InvalidJob(reason, field="target.celery.task", hint=hint)


def check_hosts(job: Job, guard: Guard) -> None:
    """Refuse an address at a host that the job's project may not call."""
    for text, field in _addresses(job):
        try:
            guard.check_host(job.project, parse_url(text, field).host)
        except Refused as refused:
            raise InvalidJob(refused.reason, field=field, hint=refused.hint) from None


def check_handler(job: Job) -> None:
    """Refuse an import path from those who do not write the code: nothing is imported for a job."""
    if isinstance(job.target, Call) and ":" in job.target.handler:
        raise InvalidJob(
            f"{job.target.handler[:40]!r} is an import path, not the name of a handler",
            field="target.call.handler",
            hint="Give the name under which the code registers it, for example send_report",
        )


def check_condition(job: Job) -> None:
    """Refuse a condition's URL with a credential: all who may see the job would see it."""
    if job.only_if is not None and is_url(job.only_if) and masked_url(job.only_if) != job.only_if:
        raise InvalidJob(
            "has a credential in its query",
            field="only_if",
            hint="Ask a handler, which can send the credential in a header",
        )


def check_certificate(job: Job) -> None:
    """Refuse a client certificate that could not be shown; one in a secret is read at the dial."""
    pem = job.target.certificate if isinstance(job.target, Http) else None
    if pem is None or "{{" in pem:
        return
    try:
        checked_pem(pem)
    except Unusable as error:
        raise InvalidJob(
            f"cannot be used: {error}",
            field="target.http.certificate",
            hint="Keep it in a secret, and name that as {{secret.certificate}}",
        ) from None


def _addresses(job: Job) -> Iterator[tuple[str, str]]:
    target = job.target
    if isinstance(target, Http):
        yield target.url, "target.http.url"
        if isinstance(target.auth, OAuth):
            yield target.auth.token_url, "target.http.auth.oauth.token_url"
    if job.only_if is not None and is_url(job.only_if):
        yield job.only_if, "only_if"
    if job.check_in is not None:
        yield dialled(job.check_in), "check_in"


MOST_TAGS = 50
#: An id, and the name of a job that sends callbacks or alerts, with the letters of either case: on
#: a page nobody tells them apart.
_ID = re.compile(
    rf"(?:({'|'.join(KINDS)})-)?"
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    re.IGNORECASE,
)


def require_within_limits(job: Job, before: Job | None = None) -> None:
    """Refuse a name in the form of an id, too many tags, and a setting without effect.

    What was so before the edit may stay.
    """
    if before is None or job.name != before.name:
        require_own_name(job, is_new=before is None)
    if job.tags and (before is None or job.tags != before.tags):
        _require_few_tags(job.tags)
    if before is None or job.misfire != before.misfire:
        require_effective(job.misfire)


def require_effective(misfire: Misfire) -> None:
    """Refuse a catch-up window where the policy does not look at it."""
    if misfire.policy is not OnMisfire.ALL and misfire.catchup_window != DAY:
        raise InvalidJob(
            f"has no effect with the policy {misfire.policy.value!r}",
            field="misfire.catchup_window",
            hint='Use the policy "all", with cap=1 for the newest one only, or leave it out',
        )


def require_own_name(job: Job, *, is_new: bool = True) -> None:
    """Refuse the form of an id, and that of the jobs of callbacks and channels to all others."""
    found = _ID.fullmatch(job.name)
    if found is None or (is_new and is_sender(job)):
        return
    kept = f"the job of a {found[1].lower()}" if found[1] else "an id"
    raise InvalidJob(
        f"{job.name} is in the form of {kept}",
        field="name",
        hint="Choose a name that says what the job does, such as daily-report",
    )


def _require_few_tags(tags: tuple[str, ...]) -> None:
    """So that a page of jobs stays one: each shows its tags."""
    if len(tags) > MOST_TAGS:
        raise InvalidJob(
            f"a job has {MOST_TAGS} tags at most, and this one {len(tags)}",
            field="tags",
            hint="Put what is not filtered by into the payload or the description",
        )
    for tag in tags:
        if not is_name(tag):
            reason = f"{tag[:40]!r} is not a tag: 1 to 255 printable characters are needed"
            raise InvalidJob(reason, field="tags")
