"""What all shapes share."""

from __future__ import annotations

from typing import Annotated, Any

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


class Answer(BaseModel):
    """An object that is answered; later versions may add fields."""


class Problem(Answer):
    """What is wrong, as RFC 9457 has it."""

    type: str = Field(examples=["urn:tickwell:problem:invalid-input"])
    title: str
    status: int
    detail: str
    request_id: str
    errors: list[Place] = Field(default_factory=list)


class Place(Answer):
    """One place that cannot be used: a JSON pointer into the body, or a parameter."""

    pointer: str | None = Field(default=None, examples=["/trigger/cron"])
    parameter: str | None = None
    in_: str | None = Field(default=None, alias="in")
    detail: str
    hint: str | None = None
