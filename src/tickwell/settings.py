"""Every setting, its default, and its sentence of documentation."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from ipaddress import ip_network
from math import inf
from typing import Any
from urllib.parse import urlsplit

from tickwell.domain.check_in import check_address
from tickwell.domain.seconds import Seconds, SecondsField, default, read_seconds
from tickwell.domain.target import DEFAULT_RULES, is_rule
from tickwell.errors import InvalidJob, InvalidSetting, InvalidTrigger


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a process plans, claims, runs and recovers. Durations are text with a unit, as "30s"."""

    #: Where data lives: memory://, sqlite:///file, postgresql://…, mysql://…, mongodb://…, redis://….
    store: str = field(default="sqlite:///tickwell.db", repr=False)  # may hold a password
    #: A Redis beside the store that wakes every process and lets one plan at a time: redis://host.
    notify: str | None = field(default=None, repr=False)  # may hold a password
    #: Who runs executions: "tickwell", its own workers, or "celery", workers of Celery.
    engine: str = "tickwell"
    #: The broker of Celery: redis://… or amqp://…; empty: no Celery tasks are sent.
    broker: str = field(default="", repr=False)  # may hold a password
    #: Where results of Celery tasks are read: redis://…, db+…, rpc://; empty: tasks are only sent.
    result_backend: str = field(default="", repr=False)  # may hold a password
    #: Which project may send which Celery tasks, as "project:pattern"; both may have * and ?.
    celery_tasks: tuple[str, ...] = DEFAULT_RULES
    #: The queues that the worker takes executions from.
    queues: tuple[str, ...] = ("default",)
    #: Async handlers that one worker runs at once.
    capacity: int = 100
    #: Threads for sync handlers in one worker.
    threads: int = 10
    #: How long an attempt keeps its capacity after its end: a delay between executions.
    rest: SecondsField = default("0s")
    #: How far ahead of its instant a fire is planned.
    horizon: SecondsField = default("2s")
    #: How far ahead of its instant an execution is claimed; "0s" makes a pause take effect at once.
    lead: SecondsField = default("500ms")
    #: How many rows one call to the store moves at most.
    batch: int = 500
    #: How long a loop rests at most when nothing tells it that something changed.
    poll: SecondsField = default("5s")
    #: How long a worker may be silent before another process declares it lost.
    lease: SecondsField = default("30s")
    #: How often a process beats.
    beat: SecondsField = default("5s")
    #: How often the reaper looks for what was lost.
    sweep: SecondsField = default("5s")
    #: Missed fires of one job that start at once after an outage; if more, they are held. 0: all.
    backlog_of_job: int = 1_000
    #: Missed fires of a project that one planner starts at once; the others are held. 0: all.
    backlog_of_project: int = 10_000
    #: How long a person has to decide about missed fires that are held.
    backlog_wait: SecondsField = default("1h")
    #: What becomes of them then, for each job: "latest" runs the newest one, "skip" none.
    backlog_answer: str = "latest"
    #: How long running attempts get to end when the process is asked to stop.
    drain_timeout: SecondsField = default("30s")
    #: How often old history is pruned.
    prune_every: SecondsField = default("1m")
    #: The address of the HTTP listener.
    host: str = "127.0.0.1"
    #: The port of the HTTP listener.
    port: int = 8080
    #: Where people reach API and dashboard, for links; empty: as each request names its host.
    public_url: str = ""
    #: Where alerts are mailed: smtp://user:password@host (STARTTLS), smtps://, smtp+plain://.
    smtp: str = field(default="", repr=False)  # may hold a password
    #: The address that mail is from, as tickwell@example.com.
    smtp_from: str = ""
    #: Pinged every minute while all is well: a URL as of healthchecks.io, or a DSN of Sentry.
    heartbeat_url: str = field(default="", repr=False)  # it is all that a ping needs
    #: A PEM file with the certificate chain of the HTTP listener; empty: plain http.
    tls_cert: str = ""
    #: A PEM file with its private key.
    tls_key: str = ""
    #: Whether API and dashboard require authentication; without it they bind to loopback only.
    auth: bool = True
    #: The file with the server keys; empty: beside the store's file, else tickwell.key.
    secret_key_file: str = ""
    #: How long the API key works that the first start shows on a terminal; "0s": for ever.
    first_key_life: SecondsField = default("7d")
    #: Issuers whose tokens are believed: "name issuer=… audience=… jwks=https://…".
    jwt_issuers: tuple[str, ...] = ()
    #: Where people may log in by OpenID Connect: "name issuer=https://… client_id=…".
    oidc: str = ""
    #: How long entries of audit logs are kept; "0s": for ever.
    audit_retention: SecondsField = default("365d")
    #: Requests in 15 minutes from an address that shows no key; 0: no limit.
    requests_without_key: int = 100
    #: Requests in a minute with one key or of one user; 0: no limit.
    requests_with_key: int = 6_000
    #: Jobs of a project; 0: no limit. A platform admin can give a project limits of its own.
    max_jobs: int = 0
    #: Fires that the triggers of a project can have on their busiest day; 0: no limit.
    max_fires_per_day: int = 0
    #: Fires that the triggers of a project can have in their busiest minute; 0: no limit.
    max_fires_per_minute: int = 0
    #: Requests of a project in a minute, by all its keys and users together; 0: no limit.
    max_requests_per_minute: int = 0
    #: Those of them in a minute that may change something; 0: no limit. Each is in the audit log.
    max_changes_per_minute: int = 3_000
    #: Runs of a project that may be requested in a minute; 0: no limit.
    max_runs_per_minute: int = 0
    #: Attempts of a project under way at once, in all workers together; 0: no limit.
    max_running: int = 0
    #: Largest part of a worker's capacity for one project, once there are several.
    project_share: float = 0.8
    #: How long the hard timeout of a job may be that is saved here; "0s": no limit.
    max_timeout: SecondsField = default("1d")
    #: Bytes of a payload; 0: no limit but the one for all, 1 MiB.
    max_payload: int = 0
    #: Networks of proxies whose X-Forwarded-For, -Proto and -Prefix are believed.
    trusted_proxies: tuple[str, ...] = ()
    #: Whether attempts, fires and store calls are counted, and `/metrics` answers.
    metrics: bool = True
    #: What a scraper of `/metrics` sends as a bearer token; empty: loopback needs none.
    metrics_token: str = field(default="", repr=False)
    #: How long figures read from the store are shown before they are read again.
    metrics_ttl: SecondsField = default("5s")
    #: Jobs with gauges of their own, by name: last success and next fire; 0: none.
    metrics_jobs: int = 0
    #: A folder in which processes of one host count together, so that each shows all; empty: none.
    metrics_dir: str = ""
    #: Whether webhooks may go to http://, where anybody on the way can read them.
    allow_http: bool = False
    #: Networks that webhooks may go to although they are not public, as "10.1.0.0/16".
    allow_private: tuple[str, ...] = ()
    #: Ports that webhooks may go to; "8000-8999" is a range, "1-65535" is any.
    allow_ports: tuple[str, ...] = ("80", "443")
    #: Hosts that webhooks may go to, by project: "billing:api.example.com", "*:*.example.com";
    #: empty: any.
    allow_hosts: tuple[str, ...] = ()
    #: Networks that webhooks may not go to, public or not.
    deny_networks: tuple[str, ...] = ()
    #: Whether webhooks may go to the HTTP listener and to the store.
    allow_own: bool = False
    #: Webhooks of one project that one worker has under way to one host at once.
    per_host: int = 20
    #: Failures in a row after which a worker opens its circuit breaker for a host; 0: never.
    breaker_failures: int = 20
    #: How long it stays open; doubled with each try that fails, up to 16 times.
    breaker_rest: SecondsField = default("30s")
    #: Format of the service's log: console, json, logfmt; empty: console on a terminal, else json.
    log_format: str = ""
    #: The lowest level that the service logs: debug, info, warning, error.
    log_level: str = "info"
    #: Whether triggered and succeeded executions are logged at info; otherwise at debug.
    log_runs: bool = False
    #: Whether store operations are spans: inside plan steps, attempts, requests, and of workers.
    trace_store: bool = False

    def __post_init__(self) -> None:
        _read_durations(self)
        _check_kinds(self)
        _check_numbers(self)
        _check_ranges(self)
        _check_celery(self)
        if not 0 <= self.lead <= self.horizon:
            raise InvalidSetting(
                f"{self.lead} is not between 0 and the horizon, {self.horizon}",
                field="lead",
                beside="horizon",
            )
        if self.lease < 3 * self.beat:
            raise InvalidSetting(
                f"{self.lease} is less than three times the beat, {self.beat}: one slow beat"
                " would cost a worker its attempts",
                field="lease",
                beside="beat",
            )
        _check_engine(self)
        _check_log(self)
        _check_backlog(self)
        _check_smtp(self)
        _check_heartbeat(self)
        if not self.queues:
            raise InvalidSetting("must have at least one name", field="queues", hint=_QUEUES)
        if bool(self.tls_cert) != bool(self.tls_key):
            raise InvalidSetting(
                "a certificate and its key must be set together",
                field="tls_key" if self.tls_cert else "tls_cert",
            )
        if self.public_url and not _PUBLIC_URL.fullmatch(self.public_url):
            raise InvalidSetting(
                f"{self.public_url[:100]!r} is not an address for links",
                field="public_url",
                hint="Use https://host, with a port or a path if there is one, and no more",
            )
        for name in ("allow_private", "deny_networks", "trusted_proxies"):
            _check_networks(getattr(self, name), name)
        for ports in self.allow_ports:
            _check_ports(ports)
        for rule in self.allow_hosts:
            if not is_rule(rule):
                raise InvalidSetting(
                    f"{rule[:100]!r} is not a project and a host",
                    field="allow_hosts",
                    hint='Use "billing:api.example.com", or "*:*.example.com" for all projects',
                )


#: Scheme, host and port, and where a proxy has us.
_PUBLIC_URL = re.compile(
    r"https?://(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?(?:/[A-Za-z0-9._~/-]*)?"
)
_QUEUES = 'Use ("default",)'
LOG_FORMATS = ("console", "json", "logfmt")
BACKLOG_ANSWERS = ("latest", "skip")
LOG_LEVELS = ("debug", "info", "warning", "error")
#: The port of each scheme, unless it is named.
SMTP_PORTS = {"smtp": 587, "smtps": 465, "smtp+plain": 25}
_ENGINES = ("tickwell", "celery")
_BROKERS = ("redis", "rediss", "amqp", "amqps", "pyamqp")
_BROKER = "Use redis://host:6379/0 or amqp://user:password@host//"
#: What a value of each type is, in words.
_KINDS = {
    "bool": "True or False",
    "SecondsField": "a duration",
    "float": "a number",
    "int": "a whole number",
    "str": "a text",
    "str | None": "a text or None",
    "tuple[str, ...]": "a tuple of texts",
}
#: Each has series of its own, and its last success is looked up.
MOST_METRICS_JOBS = 1000
_COUNTS = (
    *("requests_without_key", "requests_with_key", "breaker_failures", "max_jobs"),
    *("max_fires_per_day", "max_fires_per_minute", "max_runs_per_minute", "max_payload"),
    *("backlog_of_job", "backlog_of_project"),
    *("max_requests_per_minute", "max_changes_per_minute", "max_running", "metrics_jobs"),
)


def _read_durations(settings: Settings) -> None:
    for each in fields(settings):
        if str(each.type) == "SecondsField":
            try:
                seconds = read_seconds(getattr(settings, each.name), field=each.name)
            except InvalidTrigger as error:
                raise InvalidSetting(error.reason, field=error.field, hint=error.hint) from None
            object.__setattr__(settings, each.name, seconds)


def _check_kinds(settings: Settings) -> None:
    for each in fields(settings):
        kind, value = str(each.type), getattr(settings, each.name)
        if not _is_of(kind, value):
            hint = _QUEUES if each.name == "queues" else ""
            raise InvalidSetting(f"{_KINDS[kind]} is needed", field=each.name, hint=hint)


def _is_of(kind: str, value: Any) -> bool:
    if kind == "tuple[str, ...]":
        return type(value) is tuple and all(isinstance(each, str) for each in value)
    if kind == "SecondsField":
        return isinstance(value, Seconds)
    if kind == "float":
        return type(value) in {int, float} and -inf < value < inf
    if kind == "str | None":
        return value is None or isinstance(value, str)
    return isinstance(value, str) if kind == "str" else type(value).__name__ == kind


def _check_numbers(settings: Settings) -> None:
    for name in ("capacity", "threads", "batch", "per_host"):
        if getattr(settings, name) < 1:
            raise InvalidSetting("must be 1 or more", field=name)
    for name in _COUNTS:
        if getattr(settings, name) < 0:
            raise InvalidSetting("must be 0 or more", field=name, hint="0 means no limit")
    for name in ("breaker_rest", "horizon", "poll", "lease", "beat", "sweep", "prune_every"):
        if getattr(settings, name) <= 0:
            raise InvalidSetting("must be longer than 0", field=name)
    if settings.backlog_wait < 0:
        raise InvalidSetting("must not be shorter than 0", field="backlog_wait")


def _check_ranges(settings: Settings) -> None:
    if not 0 <= settings.port <= 65535:
        raise InvalidSetting(
            "must be between 0 and 65535", field="port", hint="0 means any free port"
        )
    if settings.metrics_jobs > MOST_METRICS_JOBS:
        raise InvalidSetting(f"{MOST_METRICS_JOBS} at most", field="metrics_jobs")
    if not 0 < settings.project_share <= 1:
        raise InvalidSetting(
            f"{settings.project_share} is not a part of the capacity, above 0 and up to 1",
            field="project_share",
        )


def _check_engine(settings: Settings) -> None:
    if settings.engine not in _ENGINES:
        raise InvalidSetting(
            f"unknown engine {settings.engine[:100]!r}; expected one of tickwell, celery",
            field="engine",
        )
    scheme = settings.broker.partition("://")[0]
    if settings.broker and scheme not in _BROKERS:
        # The rest may hold a password.
        raise InvalidSetting(
            f"unsupported broker scheme {scheme[:20]!r}", field="broker", hint=_BROKER
        )
    for name in ("broker", "result_backend"):
        try:
            _ = urlsplit(getattr(settings, name)).port
        except ValueError:
            # Its own words quote what stands before the host: a part of the password.
            raise InvalidSetting(
                "the host and port cannot be read",
                field=name,
                hint="Percent-encode /, ?, # and @ in the password, as in redis://:a%2Fb@host",
            ) from None
    if settings.engine == "celery" and not settings.broker:
        raise InvalidSetting(
            "Celery needs a broker, and none is named",
            field="broker",
            beside="engine",
            hint=f"Set --broker or TICKWELL_BROKER. {_BROKER}",
        )


def _check_log(settings: Settings) -> None:
    for name, choices in (("log_format", ("", *LOG_FORMATS)), ("log_level", LOG_LEVELS)):
        if getattr(settings, name) not in choices:
            raise InvalidSetting(
                f"unknown value {getattr(settings, name)[:100]!r}",
                field=name,
                hint=f"Use one of {', '.join(filter(None, choices))}",
            )


def _check_backlog(settings: Settings) -> None:
    if settings.backlog_answer not in BACKLOG_ANSWERS:
        raise InvalidSetting(
            f"unknown value {settings.backlog_answer[:100]!r}",
            field="backlog_answer",
            hint=f"Use one of {', '.join(BACKLOG_ANSWERS)}",
        )


def _check_smtp(settings: Settings) -> None:
    if not settings.smtp:
        return
    hint = "Use smtp://user:password@mail.example.com, smtps:// or smtp+plain://localhost"
    try:
        found = urlsplit(settings.smtp)
        is_good = found.scheme in SMTP_PORTS and bool(found.hostname) and found.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        # Not what it is: the rest may hold a password.
        raise InvalidSetting("is not the address of an SMTP server", field="smtp", hint=hint)
    if "@" not in settings.smtp_from:
        raise InvalidSetting(
            "is not an e-mail address",
            field="smtp_from",
            beside="smtp",
            hint="For example tickwell@example.com",
        )


def _check_heartbeat(settings: Settings) -> None:
    if settings.heartbeat_url:
        try:
            check_address(settings.heartbeat_url)
        except InvalidJob as error:
            raise InvalidSetting(error.reason, field="heartbeat_url", hint=error.hint) from None


def _check_celery(settings: Settings) -> None:
    for rule in settings.celery_tasks:
        if not is_rule(rule):
            raise InvalidSetting(
                f"{rule[:100]!r} is not a project and a pattern of tasks",
                field="celery_tasks",
                hint='Use "shop:shop.tasks.*", or "*:reports.*" for all projects',
            )
    if settings.result_backend and not settings.broker:
        raise InvalidSetting(
            "a result backend needs a broker", field="result_backend", hint="Set broker too"
        )


def _check_networks(networks: tuple[str, ...], field: str) -> None:
    for network in networks:
        try:
            ip_network(network)
        except ValueError as error:
            raise InvalidSetting(
                f"{network!r} is not a network: {error}", field=field, hint='Use "10.1.0.0/16"'
            ) from None


def _check_ports(text: str) -> None:
    found = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", text)
    if not found or not 1 <= int(found[1]) <= int(found[2] or found[1]) <= 65535:
        raise InvalidSetting(
            f"{text!r} is neither a port nor a range of ports",
            field="allow_ports",
            hint='Use "8443", or "8000-8999"',
        )
