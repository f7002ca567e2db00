"""Targets, as documents have them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tickwell.api.models.base import Duration, Json, Shape


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
