"""Keys, members, users, projects, secrets, limits, callbacks, the audit log."""

from __future__ import annotations

from typing import Any, TypedDict


class Done(TypedDict):
    """What is gone, or done."""

    done: bool


class Key(TypedDict):
    """An API key without its secret."""

    id: str
    name: str
    role: str
    permissions: list[str]
    created_at: str
    created_by: str
    expires_at: str | None
    replaces: str | None
    last_used_at: str | None


class NewKey(Key):
    """A key with its secret, which is shown this once."""

    key: str


class Member(TypedDict):
    """A member of the project."""

    name: str
    role: str


class User(TypedDict):
    """A user."""

    name: str
    platform: bool
    disabled: bool
    roles: dict[str, str]


class Link(TypedDict):
    """A login link, which is shown this once."""

    link: str


class Project(TypedDict):
    """A project."""

    name: str
    title: str
    created_at: str
    created_by: str


class Export(TypedDict):
    """Everything of a project that can be made again from a document."""

    project: dict[str, str]
    jobs: list[Any]
    members: dict[str, str]
    secrets: list[str]


class Limits(TypedDict):
    """Limits of a project; 0: none."""

    jobs: int
    fires_per_day: int
    fires_per_minute: int
    requests_per_minute: int
    runs_per_minute: int
    running: int
    payload: int


class Retained(TypedDict):
    """How long the history of a project's new jobs is kept."""

    age: str
    count: int
    dead: str


class Secret(TypedDict):
    """What may be known of a secret."""

    name: str
    version: int
    saved_at: str
    by: str
    hosts: list[str]


class Entry(TypedDict):
    """An entry of the audit log."""

    id: str
    at: str
    actor: str
    action: str
    subject: str
    before: Any
    after: Any
    address: str
    request_id: str


class Verified(TypedDict):
    """What a look at the whole chain found."""

    entries: int
    pruned: int
    head: str | None
    problem: str | None


class Rewrapped(TypedDict):
    """How many were under another server key before."""

    rewrapped: int


class Callback(TypedDict):
    """Whom to tell, and of what."""

    id: str
    url: str
    events: list[str]
    job_id: str | None
    created_at: str
    created_by: str


class NewCallback(Callback):
    """A callback with the key that it is signed with, which is shown this once."""

    signing_key: str


class Me(TypedDict):
    """Who asks."""

    name: str
    project: str
    permissions: list[str]


class Jwks(TypedDict):
    """Public keys, as RFC 7517 has them."""

    keys: list[Any]
