"""A job as pydantic has it, for the bare route that ours is compared with."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

#: RFC 3339 in UTC, with milliseconds.
Instant = Annotated[
    str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-11-15T09:00:00.000Z"])
]
#: A number with its unit: "500ms", "30s", "5m", "1h30m", or ISO 8601.
Duration = Annotated[str, Field(examples=["5m"])]
Json = Any


class Shape(BaseModel):
    """An object without unknown fields."""

    model_config = ConfigDict(extra="forbid")


class Window(Shape):
    """When a trigger may fire."""

    days: str = Field(default="*", examples=["mon-fri"])
    from_: str = Field(default="00:00", alias="from", examples=["09:00"])
    to: str = Field(default="24:00", examples=["17:00"])
    tz: str | None = None


class Range(Shape):
    """Days from the first to the last."""

    from_: str = Field(alias="from", examples=["2026-12-24"])
    to: str = Field(examples=["2027-01-02"])


class Calendar(Shape):
    """Days on which a trigger does not fire."""

    name: str = Field(examples=["holidays"])
    dates: list[str] = Field(default_factory=list, examples=[["2026-12-25"]])
    ranges: list[Range] = Field(default_factory=list)
    tz: str | None = None


class Units(Shape):
    """A calendar interval."""

    years: int = 0
    months: int = Field(default=0, examples=[2])
    weeks: int = 0
    days: int = 0


class Common(Shape):
    """What every trigger takes."""

    start: Instant | None = None
    until: Instant | None = None
    max_runs: int | None = Field(default=None, ge=1)
    within: list[Window] | None = None
    exclude: list[Calendar] | None = None
    jitter: Duration | None = None


class Zoned(Common):
    """A trigger on wall time."""

    tz: str | None = Field(default=None, examples=["Europe/Rome"])
    dst_gap: Literal["shift", "skip"] | None = None
    dst_fold: Literal["first", "last", "both"] | None = None


class CronTrigger(Zoned):
    """By a cron expression: five fields, or six with seconds first."""

    cron: str = Field(max_length=256, examples=["0 9 * * mon-fri"])
    dialect: Literal["cron", "quartz", "aws", "celery"] | None = Field(
        default=None, description="Whose expression it is; aws is EventBridge."
    )


class EveryTrigger(Common):
    """In equal steps."""

    every: Duration
    phase: Duration | None = None
    after: Literal["fire", "finish"] | None = None


class CalendarTrigger(Zoned):
    """Every so many days, weeks, months or years at the same wall time."""

    calendar_every: Units
    anchor: str = Field(examples=["2026-01-31T09:00:00"])


class OnceTrigger(Common):
    """Once."""

    once: Instant


class OnDemandTrigger(Common):
    """Only when somebody asks."""

    on_demand: Literal[True]


class UnionTrigger(Common):
    """Whenever one of several fires."""

    any_of: list[Trigger] = Field(min_length=1)


Trigger = Annotated[
    CronTrigger | EveryTrigger | CalendarTrigger | OnceTrigger | OnDemandTrigger | UnionTrigger,
    Field(examples=[{"cron": "0 9 * * mon-fri", "tz": "Europe/Rome"}]),
]
UnionTrigger.model_rebuild()


class Basic(Shape):
    """A user and a password."""

    user: str
    password: str = Field(examples=["{{secret.password}}"])


class Bearer(Shape):
    """A token."""

    token: str = Field(examples=["{{secret.token}}"])


class OAuth(Shape):
    """A token that is fetched with client credentials."""

    token_url: str = Field(examples=["https://example.com/token"])
    client_id: str
    client_secret: str = Field(examples=["{{secret.client}}"])
    scope: str = ""
    audience: str = ""


class WithBasic(Shape):
    """Basic authentication."""

    basic: Basic


class WithBearer(Shape):
    """A bearer token."""

    bearer: Bearer


class WithOAuth(Shape):
    """OAuth 2 client credentials."""

    oauth: OAuth


class HttpCall(Shape):
    """A webhook."""

    url: str = Field(max_length=2048, examples=["https://example.com/hook"])
    method: str = Field(default="POST", examples=["POST"])
    headers: dict[str, str] = Field(default_factory=dict)
    query: dict[str, Json] = Field(default_factory=dict)
    json_: Json = Field(default=None, alias="json")
    text: str | None = None
    body: Json = None
    auth: WithBasic | WithBearer | WithOAuth | None = None
    sign_with: list[str] = Field(default_factory=list, examples=[["{{secret.hook}}"]])
    certificate: str | None = None
    timeout: Duration = "30s"
    retry_on: list[int] = Field(default_factory=list)
    keep: int = 1000


class HandlerCall(Shape):
    """A Python handler, by the name under which a worker registered it."""

    handler: str = Field(min_length=1, max_length=255, examples=["send_report"])


class TaskCall(Shape):
    """A task of a Celery app; a payload is merged into `kwargs`, or replaces `args` as a list."""

    task: str = Field(min_length=1, max_length=255, examples=["shop.tasks.charge"])
    args: list[Json] = Field(default_factory=list)
    kwargs: dict[str, Json] = Field(default_factory=dict, examples=[{"order": 7}])
    queue: str = Field(default="", max_length=255, examples=["billing"])
    exchange: str = Field(default="", max_length=255)
    routing_key: str = Field(default="", max_length=255)
    priority: int | None = Field(default=None, ge=0, le=255)
    wait: bool = True


class HttpTarget(Shape):
    """A webhook."""

    http: HttpCall


class CallTarget(Shape):
    """A Python handler."""

    call: HandlerCall


class CeleryTarget(Shape):
    """A Celery task."""

    celery: TaskCall


Target = Annotated[
    HttpTarget | CallTarget | CeleryTarget,
    Field(examples=[{"http": {"url": "https://example.com/hook"}}]),
]


class Retry(Shape):
    """How often and when a failed attempt is followed by another."""

    max_attempts: int = Field(default=3, ge=1, le=100)
    backoff: Literal["fixed", "linear", "exponential"] = "exponential"
    delay: Duration = "5s"
    factor: float = Field(default=2.0, ge=1)
    cap: Duration = "1h"
    jitter: float = Field(default=0.1, ge=0, le=1)
    max_age: Duration | None = None
    max_losses: int | None = Field(default=3, ge=1, le=100)


class Misfire(Shape):
    """What happens to fire times that nobody answered in time."""

    policy: Literal["skip", "latest", "all"] = "latest"
    grace: Duration = "10s"
    catchup_window: Duration = "1d"
    cap: int = Field(default=100, ge=1, le=1000)


class Concurrency(Shape):
    """How many executions with the same key may run at once."""

    key: str = Field(min_length=1, examples=["customer-{{payload.customer}}"])
    limit: int = Field(default=1, ge=1)


class Timeout(Shape):
    """How long an attempt may take."""

    #: Not given: nine tenths of the hard one.
    soft: Duration | None = None
    hard: Duration = "5m"


class Retention(Shape):
    """How long ended executions are kept."""

    age: Duration = "30d"
    count: int = Field(default=1000, ge=0)
    dead: Duration = "90d"


class Policies(Shape):
    """What may be left out of a definition."""

    queue: str = Field(default="default", min_length=1, max_length=255)
    payload: Json = None
    priority: int = Field(default=5, ge=1, le=10)
    retry: Retry = Field(default_factory=Retry)
    misfire: Misfire = Field(default_factory=Misfire)
    overlap: Literal["skip", "queue_one", "queue_all", "cancel_running", "allow"] = "skip"
    concurrency: Concurrency | None = None
    delivery: Literal["at_least_once", "at_most_once"] = "at_least_once"
    timeout: Timeout = Field(default_factory=Timeout)
    expires: Duration | None = None
    pause_after: int | None = Field(default=None, ge=1)
    auto_remove: bool = False
    dedupe_key: str | None = Field(default=None, max_length=255)
    retention: Retention = Field(default_factory=Retention)
    description: str = ""
    tags: list[str] = Field(
        default_factory=list, description="50 at most, each of 1 to 255 printable characters."
    )


class JobBody(Policies):
    """A job to be added, or put in the place of another."""

    name: str = Field(min_length=1, max_length=255, examples=["daily-report"])
    trigger: Trigger
    target: Target
