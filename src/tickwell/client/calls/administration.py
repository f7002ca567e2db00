"""Projects, members, users, keys, limits."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.client.call import (
    Call,
    Instant,
    delete,
    duration,
    fields,
    get,
    instant,
    post,
    put,
    texts,
)
from tickwell.client.results import administration as results
from tickwell.client.results.page import Items
from tickwell.domain.trigger.duration import Duration


def list_keys() -> Call[Items[results.Key]]:
    """The keys of the project, without their secrets."""
    return get("keys")


def create_key(
    name: str,
    role: str,
    *,
    permissions: Sequence[str] | None = None,
    expires_at: Instant | None = None,
) -> Call[results.NewKey]:
    """Make a key; its secret is shown this once."""
    body = fields(
        name=name,
        role=role,
        permissions=None if permissions is None else texts(permissions),
        expires_at=instant(expires_at, "expires_at"),
    )
    return post("keys", body=body, once=False)


def rotate_key(id: str, *, overlap: Duration | None = None) -> Call[results.NewKey]:
    """Make a key in the place of another, which still works for a while."""
    return post("keys", id, "rotate", body=fields(overlap=duration(overlap, "overlap")), once=False)


def revoke_key(id: str) -> Call[results.Done]:
    """End a key."""
    return delete("keys", id)


def list_members() -> Call[Items[results.Member]]:
    """The members of the project."""
    return get("members")


def set_member(name: str, role: str) -> Call[results.Member]:
    """Give a user a role in the project."""
    return put("members", name, body={"role": role})


def remove_member(name: str) -> Call[results.Done]:
    """Take a user's role in the project away."""
    return delete("members", name)


def list_users() -> Call[Items[results.User]]:
    """All users."""
    return get("users")


def create_user(
    name: str, *, password: str | None = None, platform: bool = False
) -> Call[results.User]:
    """Make a user; without a password, a link lets them in."""
    return post("users", body=fields(name=name, password=password, platform=platform), once=False)


def change_user(
    name: str, *, platform: bool | None = None, disabled: bool | None = None
) -> Call[results.User]:
    """Make a user a platform admin, lock them out, or the reverse."""
    return Call(
        method="PATCH",
        path=get("users", name).path,
        body=fields(platform=platform, disabled=disabled),
        repeatable=True,
    )


def remove_user(name: str) -> Call[results.Done]:
    """Remove a user."""
    return delete("users", name)


def make_login_link(name: str) -> Call[results.Link]:
    """A link that lets a user in once."""
    return post("users", name, "link", once=False)


def list_projects() -> Call[Items[results.Project]]:
    """All projects."""
    return get("projects")


def create_project(
    name: str,
    *,
    title: str | None = None,
    admin: str | None = None,
    idempotency_key: str | None = None,
) -> Call[results.Project]:
    """Make a project."""
    return post("projects", body=fields(name=name, title=title, admin=admin), key=idempotency_key)


def export_project(name: str) -> Call[results.Export]:
    """Everything of a project that can be made again from a document."""
    return get("projects", name, "export")


def appoint_admin(name: str, user: str) -> Call[results.Done]:
    """Make a user an admin of a project."""
    return put("projects", name, "admins", user)


def delete_project(name: str) -> Call[results.Done]:
    """Delete a project with all that it has."""
    return delete("projects", name)


def set_limits(
    name: str,
    *,
    jobs: int = 0,
    fires_per_day: int = 0,
    fires_per_minute: int = 0,
    requests_per_minute: int = 0,
    runs_per_minute: int = 0,
    running: int = 0,
    payload: int = 0,
) -> Call[results.Limits]:
    """Limit a project; 0: no limit."""
    body = fields(
        jobs=jobs,
        fires_per_day=fires_per_day,
        fires_per_minute=fires_per_minute,
        requests_per_minute=requests_per_minute,
        runs_per_minute=runs_per_minute,
        running=running,
        payload=payload,
    )
    return put("projects", name, "limits", body=body)


def get_limits() -> Call[results.Limits]:
    """The limits of the project."""
    return get("limits")


def get_retention() -> Call[results.Retained]:
    """What a job gets that does not say how long its history is kept."""
    return get("retention")


def set_retention(*, age: str, count: int, dead: str) -> Call[results.Retained]:
    """Give it to jobs that are made from now on."""
    return put("retention", body={"age": age, "count": count, "dead": dead})


def get_session() -> Call[results.Me]:
    """Who asks, and what they may."""
    return get("session")


def get_jwks() -> Call[results.Jwks]:
    """The public keys that tokens are signed with."""
    return get("jwks")
