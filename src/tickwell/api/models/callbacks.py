"""Shapes of callbacks."""

from __future__ import annotations

from pydantic import Field

from tickwell.api.models.base import Answer, Instant, Shape
from tickwell.services.callbacks.callback import Told


class Callback(Answer):
    """Whom to tell, and of what."""

    id: str
    url: str
    events: list[Told]
    job_id: str | None
    created_at: Instant
    created_by: str


class Callbacks(Answer):
    """The callbacks of the project."""

    items: list[Callback]


class NewCallback(Callback):
    """A callback with the key that it is signed with, which is shown this once."""

    signing_key: str = Field(examples=["whsec_…"])


class CallbackToMake(Shape):
    """A callback to be made."""

    url: str = Field(max_length=2048, examples=["https://example.com/told"])
    events: list[Told] = Field(min_length=1)
    job: str | None = Field(default=None, max_length=255)
