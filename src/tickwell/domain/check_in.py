"""Check-ins with other monitoring: what is sent when a run starts and ends, and where. Pure.

A URL is one of healthchecks.io or of what speaks its protocol; a DSN is one of Sentry.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tickwell.domain.http import Http
from tickwell.domain.trigger import Cron, Every, Trigger
from tickwell.errors import InvalidJob

if TYPE_CHECKING:
    from tickwell.domain.job import Job

#: Characters of an address, and of what a failed run says.
LONGEST, LONGEST_LOG = 2_048, 1_000
_HINT = 'Use a URL, as "https://hc-ping.com/…", or a DSN of Sentry, "https://key@host/project"'
_KEY, _PROJECT = re.compile(r"[0-9A-Za-z]{1,64}"), re.compile(r"(?:/[A-Za-z0-9._~-]+)*/[0-9]{1,20}")
#: Milliseconds of Sentry's units, the longest first.
_UNITS = {"week": 604_800_000, "day": 86_400_000, "hour": 3_600_000, "minute": 60_000}
#: What Sentry takes: characters of a slug, minutes of a run.
_LONGEST_SLUG, _LONGEST_RUN = 50, 28 * 24 * 60


class Sign(StrEnum):
    """What a check-in says of a run."""

    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


_PATHS = {Sign.STARTED: "/start", Sign.SUCCEEDED: "", Sign.FAILED: "/fail"}
_STATUSES = {Sign.STARTED: "in_progress", Sign.SUCCEEDED: "ok", Sign.FAILED: "error"}


@dataclass(frozen=True, slots=True)
class _Dsn:
    base: str
    project: str
    key: str


def check_address(address: object) -> None:
    """Refuse what is neither a URL that can be called as it is nor a DSN of Sentry."""
    if not isinstance(address, str) or not address.strip():
        raise InvalidJob(f"{address!r:.80} is not a text", field="check_in", hint=_HINT)
    if len(address) > LONGEST:
        raise InvalidJob(f"is longer than {LONGEST} characters", field="check_in", hint=_HINT)
    if "{{" in address:
        raise InvalidJob("takes no placeholders", field="check_in", hint=_HINT)
    try:
        _target(address, Sign.STARTED, "job")
    except InvalidJob as error:
        raise InvalidJob(error.reason, field="check_in", hint=error.hint or _HINT) from None


def dialled(address: str) -> str:
    """The URL that is requested, without what a DSN identifies itself by."""
    dsn = _dsn(address)
    return address if dsn is None else dsn.base


def request_of(job: Job, sign: Sign) -> Http:
    """The request that tells a sign; its body is the payload that it is sent with."""
    return _target(job.check_in or "", sign, slug_of(job.name))


def body_of(
    job: Job, execution: str, sign: Sign, *, log: str = "", seconds: float | None = None
) -> str:
    """What the request says: to Sentry a document, to others the log alone."""
    if _dsn(job.check_in or "") is None:
        return log[:LONGEST_LOG]
    told: dict[str, Any] = {"check_in_id": execution.replace("-", ""), "status": _STATUSES[sign]}
    if seconds is not None:
        told["duration"] = seconds
    schedule = _schedule(job.trigger)
    if schedule is not None:
        told["monitor_config"] = schedule | {"max_runtime": _longest_run(job)}
    return json.dumps(told)


def slug_of(name: str) -> str:
    """The name of a job as Sentry names its monitor."""
    found = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")[:_LONGEST_SLUG].strip("-")
    return found or "job"


def _target(address: str, sign: Sign, slug: str) -> Http:
    dsn = _dsn(address)
    if dsn is not None:
        url, kind = f"{dsn.base}/api/{dsn.project}/cron/{slug}/{dsn.key}/", "application/json"
    else:
        path, mark, query = address.partition("?")
        query += "&" if mark and query else ""
        url = f"{path.rstrip('/')}{_PATHS[sign]}?{query}rid={{{{execution_id}}}}"
        kind = "text/plain; charset=utf-8"
    return Http(
        url, method="POST", headers={"Content-Type": kind}, body="{{payload}}", timeout="10s"
    )


@lru_cache(maxsize=1024)
def _dsn(address: str) -> _Dsn | None:
    """The parts of a DSN; None: it is not one."""
    try:
        found = urlsplit(address)
        key, _, host = found.netloc.rpartition("@")
    except ValueError:
        return None
    is_dsn = _KEY.fullmatch(key) and _PROJECT.fullmatch(found.path) and not found.query
    if not is_dsn or found.fragment:
        return None
    prefix, _, project = found.path.rpartition("/")
    return _Dsn(f"{found.scheme}://{host}{prefix}", project, key)


def _schedule(trigger: Trigger) -> dict[str, Any] | None:
    """The schedule as Sentry has it; None: it cannot say that, and keeps what it has."""
    confined = trigger.start or trigger.until or trigger.within or trigger.exclude
    if confined or trigger.max_runs is not None:
        return None
    if isinstance(trigger, Cron):
        is_plain = trigger.dialect == "cron" and trigger.business_days is None
        if not is_plain or not re.fullmatch(r"(?:[0-9*/,-]+ ){4}[0-9*/,a-zA-Z-]+", trigger.expr):
            return None
        schedule: dict[str, Any] = {"type": "crontab", "value": trigger.expr}
        return {"schedule": schedule, "timezone": trigger.tz}
    if isinstance(trigger, Every):
        for unit, length in _UNITS.items():
            if trigger.period % length == 0:
                count = trigger.period // length
                return {"schedule": {"type": "interval", "value": count, "unit": unit}}
    return None


def _longest_run(job: Job) -> int:
    """Minutes that all attempts of a run may take, without the waits between them."""
    return min(-(-job.timeout.hard * job.retry.max_attempts // 60_000), _LONGEST_RUN)
