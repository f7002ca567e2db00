"""Secrets, callbacks, the audit log."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.client.call import Call, delete, fields, get, post, put, texts
from tickwell.client.results import administration as results
from tickwell.client.results.page import Items, Page


def list_secrets() -> Call[Items[results.Secret]]:
    """The secrets of the project by name, without their values."""
    return get("secrets")


def set_secret(
    name: str, value: str | None = None, *, hosts: Sequence[str] | None = None
) -> Call[results.Secret]:
    """Keep a value, which is never shown again, and the only hosts that it may be sent to."""
    return put("secrets", name, body=fields(value=value, hosts=None if hosts is None else [*hosts]))


def delete_secret(name: str) -> Call[results.Done]:
    """Forget a secret."""
    return delete("secrets", name)


def list_callbacks() -> Call[Items[results.Callback]]:
    """The callbacks of the project."""
    return get("callbacks")


def create_callback(
    url: str, events: Sequence[str], *, job: str | None = None
) -> Call[results.NewCallback]:
    """Tell an address of what happens; the key that it is signed with is shown this once."""
    return post("callbacks", body=fields(url=url, events=texts(events), job=job), once=False)


def delete_callback(id: str) -> Call[results.Done]:
    """Tell it no more."""
    return delete("callbacks", id)


def list_audit(*, limit: int | None = None, cursor: str | None = None) -> Call[Page[results.Entry]]:
    """The audit log of the project, newest first, a page of it."""
    return get("audit", limit=limit, cursor=cursor)


def verify_audit() -> Call[results.Verified]:
    """Whether the chain of the log is whole."""
    return get("audit", "verify")


def list_platform_audit(
    *, limit: int | None = None, cursor: str | None = None
) -> Call[Page[results.Entry]]:
    """The audit log of the platform, newest first, a page of it."""
    return get("platform", "audit", limit=limit, cursor=cursor)


def verify_platform_audit() -> Call[results.Verified]:
    """Whether the chain of the platform's log is whole."""
    return get("platform", "audit", "verify")


def rewrap_secrets(*, idempotency_key: str | None = None) -> Call[results.Rewrapped]:
    """Seal everything under the newest server key."""
    return post("platform", "rewrap", key=idempotency_key)
