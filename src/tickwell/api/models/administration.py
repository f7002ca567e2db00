"""Shapes of keys, members, users, projects, secrets, limits and the audit log."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tickwell.api.models.base import Answer, Duration, Instant, Json, Shape
from tickwell.services.access.permission import Permission, Role


class Done(Answer):
    """What is gone, or done."""

    done: bool


class Key(Answer):
    """An API key without its secret."""

    id: str
    name: str
    role: Role
    permissions: list[Permission]
    created_at: Instant
    created_by: str
    expires_at: Instant | None
    replaces: str | None
    last_used_at: Instant | None


class Keys(Answer):
    """The keys of the project."""

    items: list[Key]


class NewKey(Key):
    """A key with its secret, which is shown this once."""

    key: str = Field(examples=["tw_0123456789abcdef_…"])


class KeyToMake(Shape):
    """A key to be made."""

    name: str = Field(min_length=1, max_length=255)
    role: Role
    permissions: Annotated[list[Permission], Field(min_length=1)] | None = None
    expires_at: Instant | None = None


class Rotation(Shape):
    """How long the old key still works."""

    overlap: Duration | None = None


class Member(Answer):
    """A member of the project."""

    name: str
    role: Role


class Members(Answer):
    """The members of the project."""

    items: list[Member]


class RoleToGive(Shape):
    """A role."""

    role: Role


class User(Answer):
    """A user."""

    name: str
    platform: bool
    disabled: bool
    roles: dict[str, Role]


class Users(Answer):
    """All users."""

    items: list[User]


class UserToMake(Shape):
    """A user to be made."""

    name: str = Field(min_length=1, max_length=200, examples=["ada@example.com"])
    password: str | None = Field(default=None, min_length=12, max_length=1024)
    platform: bool = False


class UserChange(Shape):
    """What to change of a user."""

    platform: bool | None = None
    disabled: bool | None = None


class Link(Answer):
    """A login link, which is shown this once."""

    link: str


class Project(Answer):
    """A project."""

    name: str
    title: str
    created_at: Instant
    created_by: str


class Projects(Answer):
    """All projects."""

    items: list[Project]


class ProjectToMake(Shape):
    """A project to be made."""

    name: str = Field(pattern="^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")
    title: str = Field(default="", max_length=255)
    admin: str | None = Field(default=None, max_length=200)


class Export(Answer):
    """Everything of a project that can be made again from a document."""

    project: dict[str, str]
    jobs: list[Json]
    members: dict[str, Role]
    secrets: list[str]


class Limits(Answer):
    """Limits of a project; 0: none."""

    jobs: int
    fires_per_day: int
    fires_per_minute: int
    requests_per_minute: int
    runs_per_minute: int
    running: int
    payload: int


class LimitsToSet(Shape):
    """Limits of a project; what is left out is not limited."""

    jobs: int = Field(default=0, ge=0, le=2**53)
    fires_per_day: int = Field(default=0, ge=0, le=2**53)
    fires_per_minute: int = Field(default=0, ge=0, le=2**53)
    requests_per_minute: int = Field(default=0, ge=0, le=2**53)
    runs_per_minute: int = Field(default=0, ge=0, le=2**53)
    running: int = Field(default=0, ge=0, le=2**53)
    payload: int = Field(default=0, ge=0, le=2**53)


class Retained(Answer):
    """How long the history of a project's new jobs is kept."""

    age: str = Field(examples=["30d"])
    count: int
    dead: str = Field(examples=["90d"])


class Secret(Answer):
    """What may be known of a secret."""

    name: str
    version: int
    saved_at: Instant
    by: str
    hosts: list[str] = Field(
        description="The only hosts that it may be sent to; empty: any.",
        examples=[["api.example.com", "*.example.org"]],
    )


class Secrets(Answer):
    """The secrets of the project, by name."""

    items: list[Secret]


class SecretToSet(Shape):
    """The value, which is never shown again, and the hosts; what is left out stays."""

    value: str | None = Field(default=None, min_length=4, max_length=8192)
    hosts: list[str] | None = Field(default=None, max_length=50)


class Entry(Answer):
    """An entry of the audit log."""

    id: str
    at: Instant
    actor: str
    action: str
    subject: str
    before: Json
    after: Json
    address: str
    request_id: str


class Entries(Answer):
    """Entries of the audit log, newest first."""

    items: list[Entry]
    next_cursor: str | None


class Verified(Answer):
    """What a look at the whole chain found."""

    entries: int
    pruned: int = Field(description="Entries that retention has taken away.")
    head: str | None
    problem: str | None


class Rewrapped(Answer):
    """How many were under another server key before."""

    rewrapped: int


class Login(Shape):
    """A name and a password, or the token of a link."""

    name: str | None = Field(default=None, max_length=200)
    password: str | None = Field(default=None, max_length=1024)
    link: str | None = Field(default=None, max_length=200)


class Session(Answer):
    """Who is logged in, and the token that changes must carry as X-CSRF-Token."""

    csrf: str


class Me(Answer):
    """Who asks."""

    name: str
    project: str
    permissions: list[Permission]


class PasswordToSet(Shape):
    """A user's new password."""

    current: str = Field(default="", max_length=1024)
    new: str = Field(min_length=12, max_length=1024)


class Token(Answer):
    """A token of our own issuer."""

    token: str


class Jwks(Answer):
    """Public keys, as RFC 7517 has them."""

    keys: list[Json]
