"""Shapes of keys, members, users, projects, secrets, limits and the audit log."""

from __future__ import annotations

from tickwell.services.access.actor import Permission, Role
from tickwell.services.callbacks.callback import CallbackEvent
from tickwell.services.operations.schema import Duration, Input, Instant, Json, Output, field


class Callback(Output):
    """Whom to tell, and of what."""

    id: str
    url: str
    events: list[CallbackEvent]
    job_id: str | None
    created_at: Instant
    created_by: str


class Callbacks(Output):
    """The callbacks of the project."""

    items: list[Callback]


class NewCallback(Callback):
    """A callback with the key that it is signed with, which is shown this once."""

    signing_key: str = field(example="whsec_…")


class CallbackToMake(Input):
    """A callback to be made."""

    url: str = field(max_length=2048, example="https://example.com/told")
    events: list[CallbackEvent] = field(min_length=1)
    job: str | None = field(None, max_length=255)


class Done(Output):
    """What is gone, or done."""

    done: bool


class Key(Output):
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


class Keys(Output):
    """The keys of the project."""

    items: list[Key]


class NewKey(Key):
    """A key with its secret, which is shown this once."""

    key: str = field(example="tw_0123456789abcdef_…")


class KeyToMake(Input):
    """A key to be made."""

    name: str = field(min_length=1, max_length=255)
    role: Role
    permissions: list[Permission] | None = field(None, min_length=1)
    expires_at: Instant | None = None


class Rotation(Input):
    """How long the old key still works."""

    overlap: Duration | None = None


class Member(Output):
    """A member of the project."""

    name: str
    role: Role


class Members(Output):
    """The members of the project."""

    items: list[Member]


class RoleToGive(Input):
    """A role."""

    role: Role


class User(Output):
    """A user."""

    name: str
    platform: bool
    disabled: bool
    roles: dict[str, Role]


class Users(Output):
    """All users."""

    items: list[User]


class UserToMake(Input):
    """A user to be made."""

    name: str = field(min_length=1, max_length=200, example="ada@example.com")
    password: str | None = field(None, min_length=12, max_length=1024)
    platform: bool = False


class UserChange(Input):
    """What to change of a user."""

    platform: bool | None = None
    disabled: bool | None = None


class Link(Output):
    """A login link, which is shown this once."""

    link: str


class Project(Output):
    """A project."""

    name: str
    title: str
    created_at: Instant
    created_by: str


class Projects(Output):
    """All projects."""

    items: list[Project]


class ProjectToMake(Input):
    """A project to be made."""

    name: str = field(pattern="^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")
    title: str = field("", max_length=255)
    admin: str | None = field(None, max_length=200)


class Export(Output):
    """Everything of a project that can be made again from a document."""

    project: dict[str, str]
    jobs: list[Json]
    members: dict[str, Role]
    secrets: list[str]


class Limits(Output):
    """Limits of a project; 0: none."""

    jobs: int
    fires_per_day: int
    fires_per_minute: int
    requests_per_minute: int
    changes_per_minute: int
    runs_per_minute: int
    running: int
    payload: int


class LimitsToSet(Input):
    """Limits of a project; what is left out is not limited."""

    jobs: int = field(0, ge=0, le=2**53)
    fires_per_day: int = field(0, ge=0, le=2**53)
    fires_per_minute: int = field(0, ge=0, le=2**53)
    requests_per_minute: int = field(0, ge=0, le=2**53)
    changes_per_minute: int = field(0, ge=0, le=2**53)
    runs_per_minute: int = field(0, ge=0, le=2**53)
    running: int = field(0, ge=0, le=2**53)
    payload: int = field(0, ge=0, le=2**53)


class Retained(Output):
    """How long the history of a project's new jobs is kept."""

    age: str = field(example="30d")
    count: int
    dead: str = field(example="90d")


class Secret(Output):
    """What may be known of a secret."""

    name: str
    version: int
    saved_at: Instant
    by: str
    hosts: list[str] = field(
        description="The only hosts that it may be sent to; empty: any.",
        example=["api.example.com", "*.example.org"],
    )


class Secrets(Output):
    """The secrets of the project, by name."""

    items: list[Secret]


class SecretToSet(Input):
    """The value, which is never shown again, and the hosts; what is left out stays."""

    value: str | None = field(None, min_length=4, max_length=8192)
    hosts: list[str] | None = field(None, max_length=50)


class Entry(Output):
    """An entry of the audit log."""

    id: str
    at: Instant
    actor: str
    action: str
    subject: str
    before: Json
    after: Json
    address: str | None
    request_id: str | None


class Entries(Output):
    """Entries of the audit log, newest first."""

    items: list[Entry]
    next_cursor: str | None


class Verified(Output):
    """What a look at the whole chain found."""

    entries: int
    pruned: int = field(description="Entries that retention has taken away.")
    head: str | None
    problem: str | None


class Rewrapped(Output):
    """How many were under another server key before."""

    rewrapped: int


class Login(Input):
    """A name and a password, or the token of a link."""

    name: str | None = field(None, max_length=200)
    password: str | None = field(None, max_length=1024)
    link: str | None = field(None, max_length=200)


class Session(Output):
    """Who is logged in, and the token that changes must carry as X-CSRF-Token."""

    csrf: str


class Me(Output):
    """Who asks."""

    name: str
    project: str
    permissions: list[Permission]


class PasswordToSet(Input):
    """A user's new password."""

    current: str = field("", max_length=1024)
    new: str = field(min_length=12, max_length=1024)


class Token(Output):
    """A token of our own issuer."""

    token: str


class Jwks(Output):
    """Public keys, as RFC 7517 has them."""

    keys: list[Json]
