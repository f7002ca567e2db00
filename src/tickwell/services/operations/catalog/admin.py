"""Operations on keys, members, users, projects, secrets, callbacks and audit logs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tickwell.domain.document.job import retention_from_document, retention_to_document
from tickwell.domain.fairness import FIRST_PROJECT
from tickwell.errors import InvalidInput, NotFound
from tickwell.ports.records import Page
from tickwell.services.access.actor import Permission
from tickwell.services.access.keys import OVERLAP, NewKey
from tickwell.services.access.user import public
from tickwell.services.admin.admin_documents import (
    callback_document,
    entry_document,
    key_document,
    secret_document,
)
from tickwell.services.audit.entry import Entry
from tickwell.services.documents import instant_text
from tickwell.services.limits.quota import quota_from_document, quota_to_document
from tickwell.services.operations.declaration import Call, Document, Group
from tickwell.services.operations.records import admin as records
from tickwell.services.operations.records import service as service_records
from tickwell.services.operations.records.job import Retention
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.projects.projects import Project

KEYS = Group("keys")
MEMBERS = Group("members")
USERS = Group("users")
PROJECTS = Group("projects")
RETENTION = Group("retention")
SECRETS = Group("secrets")
AUDIT = Group("audit")
CALLBACKS = Group("callbacks")
SESSION = Group("session")
TOKENS = Group("tokens")
_DONE = {"done": True}


@KEYS.get("/keys", Permission.ADMINISTER, records.Keys, administers=True)
async def list_keys(call: Call) -> Document:
    """List the keys of the project, without their secrets."""
    found = await call.admin.keys.list(call.actor)
    return {"items": [key_document(key, used) for key, used in found]}


@KEYS.post(
    "/keys",
    Permission.ADMINISTER,
    records.NewKey,
    status=201,
    audit="key.create",
    example={"name": "ci", "role": "operator"},
    one_time=True,
    administers=True,
)
async def create_key(call: Call, body: records.KeyToMake) -> Document:
    """Create a key; its secret is in this answer and is never shown again."""
    permissions = None if body.permissions is None else frozenset(body.permissions)
    made = await call.admin.keys.create(
        call.actor, body.name, body.role, permissions=permissions, expires_at=body.expires_at
    )
    return _new_key(made)


@KEYS.post(
    "/keys/{id}/rotate",
    Permission.ADMINISTER,
    records.NewKey,
    status=201,
    audit="key.rotate",
    example={"overlap": "1h"},
    body_required=False,
    one_time=True,
    administers=True,
)
async def rotate_key(call: Call, id: str, body: records.Rotation) -> Document:
    """Create a key that replaces this one, which keeps working for the overlap."""
    overlap = OVERLAP if body.overlap is None else body.overlap
    return _new_key(await call.admin.keys.rotate(call.actor, id, overlap))


@KEYS.delete(
    "/keys/{id}", Permission.ADMINISTER, records.Done, audit="key.revoke", administers=True
)
async def revoke_key(call: Call, id: str) -> Document:
    """Revoke a key; every process refuses it within seconds."""
    await call.admin.keys.revoke(call.actor, id)
    return _DONE


@MEMBERS.get("/members", Permission.ADMINISTER, records.Members, administers=True)
async def list_members(call: Call) -> Document:
    """List the members of the project with their roles."""
    found = await call.admin.members.list(call.actor)
    return {"items": [{"name": name, "role": role.value} for name, role in found]}


@MEMBERS.put(
    "/members/{name}",
    Permission.ADMINISTER,
    records.Member,
    audit="member.set",
    example={"role": "operator"},
    administers=True,
)
async def set_member(call: Call, name: str, body: records.RoleToGive) -> Document:
    """Add a member to the project, or change a member's role."""
    await call.admin.members.set(call.actor, name, body.role)
    return {"name": name, "role": body.role.value}


@MEMBERS.delete(
    "/members/{name}", Permission.ADMINISTER, records.Done, audit="member.remove", administers=True
)
async def remove_member(call: Call, name: str) -> Document:
    """Remove a member from the project."""
    await call.admin.members.remove(call.actor, name)
    return _DONE


@USERS.get("/users", Permission.PLATFORM, records.Users, administers=True)
async def list_users(call: Call) -> Document:
    """List all users, by name."""
    return {"items": [public(user) for user in await call.admin.users.list(call.actor)]}


@USERS.post(
    "/users",
    Permission.PLATFORM,
    records.User,
    status=201,
    audit="user.create",
    example={"name": "ada@example.com"},
    one_time=True,
    administers=True,
)
async def create_user(call: Call, body: records.UserToMake) -> Document:
    """Add a user; without a password they log in by a link, or through another issuer."""
    return public(
        await call.admin.users.create(
            call.actor, body.name, password=body.password, platform=body.platform
        )
    )


@USERS.patch(
    "/users/{name}",
    Permission.PLATFORM,
    records.User,
    audit="user.change",
    example={"disabled": True},
    administers=True,
)
async def change_user(call: Call, name: str, body: records.UserChange) -> Document:
    """Grant or revoke platform admin, disable or enable login; the user's sessions end."""
    flags = {"platform": body.platform, "disabled": body.disabled}
    changes = {key: value for key, value in flags.items() if value is not None}
    if not changes:
        raise InvalidInput("nothing to change", hint="Set platform or disabled")
    return public(await call.admin.users.change(call.actor, name, **changes))


@USERS.delete(
    "/users/{name}", Permission.PLATFORM, records.Done, audit="user.remove", administers=True
)
async def remove_user(call: Call, name: str) -> Document:
    """Remove a user from every project, and end their sessions."""
    await call.admin.users.remove(call.actor, name)
    return _DONE


@USERS.post(
    "/users/{name}/link",
    Permission.PLATFORM,
    records.Link,
    status=201,
    audit="user.link",
    one_time=True,
    administers=True,
)
async def make_login_link(call: Call, name: str) -> Document:
    """Create a link that logs this user in once, within 15 minutes."""
    token = await call.admin.users.link(call.actor, name)
    return {"link": f"{call.origin()}/login?link={token}"}


@PROJECTS.get("/projects", Permission.PLATFORM, records.Projects, administers=True)
async def list_projects(call: Call) -> Document:
    """List all projects, by name."""
    found = await call.admin.projects.list(call.actor)
    return {"items": [_project(project) for project in found]}


@PROJECTS.post(
    "/projects",
    Permission.PLATFORM,
    records.Project,
    status=201,
    audit="project.create",
    example={"name": "acme", "title": "Acme", "admin": "ada@example.com"},
    administers=True,
)
async def create_project(call: Call, body: records.ProjectToMake) -> Document:
    """Create a project; `admin` is its first member, by default the caller."""
    made = await call.admin.projects.create(
        call.actor, body.name, title=body.title, admin=body.admin or None
    )
    return _project(made)


@PROJECTS.get(
    "/projects/{name}/export",
    Permission.PLATFORM,
    records.Export,
    audit="project.export",
    administers=True,
)
async def export_project(call: Call, name: str) -> Document:
    """Export definitions, members, and the names of secrets."""
    return await call.admin.projects.export(call.actor, name)


@PROJECTS.put(
    "/projects/{name}/admins/{user}",
    Permission.PLATFORM,
    records.Done,
    audit="project.appoint",
    administers=True,
)
async def appoint_admin(call: Call, name: str, user: str) -> Document:
    """Make a user an admin of a project, for example when its last admin has left."""
    await call.admin.projects.appoint(call.actor, name, user)
    return _DONE


@PROJECTS.put(
    "/projects/{name}/limits",
    Permission.PLATFORM,
    records.Limits,
    audit="limits.set",
    example={"jobs": 1000, "fires_per_day": 10000},
    administers=True,
)
async def set_limits(call: Call, name: str, body: records.LimitsToSet) -> Document:
    """Set the limits of a project."""
    quota = quota_from_document(vars(body))
    if name != FIRST_PROJECT:  # which is there without being made
        await call.admin.projects.get(call.actor, name)
    return quota_to_document(await call.admin.limits.set(call.actor, name, quota))


@PROJECTS.delete(
    "/projects/{name}", Permission.PLATFORM, records.Done, audit="project.delete", administers=True
)
async def delete_project(call: Call, name: str) -> Document:
    """Delete a project: its keys and members at once, then its jobs and secrets."""
    await call.admin.projects.delete(call.actor, name)
    return _DONE


@PROJECTS.get("/limits", Permission.READ, records.Limits, administers=True)
async def get_limits(call: Call) -> Document:
    """Read the limits of the project."""
    return quota_to_document(await call.admin.limits.get(call.actor))


@RETENTION.get("/retention", Permission.READ, records.Retained, administers=True)
async def get_retention(call: Call) -> Document:
    """Read how long the project keeps the history of new jobs that do not say."""
    return retention_to_document(await call.admin.retentions.get(call.actor), whole=True)


@RETENTION.put(
    "/retention",
    Permission.ADMINISTER,
    records.Retained,
    audit="retention.set",
    whole_body=Retention,
    example={"age": "7d", "count": 100, "dead": "30d"},
    administers=True,
)
async def set_retention(call: Call) -> Document:
    """Set the retention of new jobs; existing jobs keep theirs."""
    try:
        wanted = retention_from_document(_object(call.document))
    except InvalidInput as error:  # as a part of a job, which is where it usually is
        raise error.placed(_without_retention) from None
    retention = await call.admin.retentions.set(call.actor, wanted)
    return retention_to_document(retention, whole=True)


@SECRETS.get("/secrets", Permission.ADMINISTER, records.Secrets, administers=True)
async def list_secrets(call: Call) -> Document:
    """List the names and versions of secrets; values are never shown."""
    found = await call.admin.secrets.list(call.actor)
    return {"items": [secret_document(info) for info in found]}


@SECRETS.put(
    "/secrets/{name}",
    Permission.ADMINISTER,
    records.Secret,
    audit="secret.set",
    example={"value": "a long random value", "hosts": ["api.example.com"]},
    positional=("value",),
    administers=True,
)
async def set_secret(call: Call, name: str, body: records.SecretToSet) -> Document:
    """Add a secret, or change its value, the hosts that it may be sent to, or both."""
    if body.value is None and body.hosts is None:
        raise InvalidInput("is missing", field="value", hint="Set value, hosts or both")
    return secret_document(await call.admin.secrets.set(call.actor, name, body.value, body.hosts))


@SECRETS.delete(
    "/secrets/{name}", Permission.ADMINISTER, records.Done, audit="secret.delete", administers=True
)
async def delete_secret(call: Call, name: str) -> Document:
    """Delete a secret; attempts that use it fail from now on."""
    await call.admin.secrets.delete(call.actor, name)
    return _DONE


@AUDIT.get("/audit", Permission.ADMINISTER, records.Entries, administers=True)
async def list_audit(call: Call, query: service_records.PageQuery) -> Document:
    """List the project's audit entries, newest first."""
    scope = (call.actor.project, "audit")
    after = call.open_cursor(query.cursor, *scope)
    page = await call.admin.audit.list(call.actor, after, query.limit)
    return _entries(call, page, scope)


@AUDIT.get("/audit/verify", Permission.ADMINISTER, records.Verified, administers=True)
async def verify_audit(call: Call) -> Document:
    """Check the project's whole audit log for entries that were changed, removed or inserted."""
    return asdict(await call.admin.audit.verify(call.actor))


@AUDIT.get("/platform/audit", Permission.PLATFORM, records.Entries, administers=True)
async def list_platform_audit(call: Call, query: service_records.PageQuery) -> Document:
    """List audit entries about users, projects, queues and sessions, newest first."""
    scope = (PLATFORM, "audit")
    after = call.open_cursor(query.cursor, *scope)
    page = await call.admin.audit.list_platform(call.actor, after, query.limit)
    return _entries(call, page, scope)


@AUDIT.get("/platform/audit/verify", Permission.PLATFORM, records.Verified, administers=True)
async def verify_platform_audit(call: Call) -> Document:
    """Check the platform's whole audit log in the same way."""
    return asdict(await call.admin.audit.verify_platform(call.actor))


@AUDIT.post(
    "/platform/rewrap",
    Permission.PLATFORM,
    records.Rewrapped,
    audit="platform.rewrap",
    administers=True,
)
async def rewrap_secrets(call: Call) -> Document:
    """Encrypt every secret and signing key under the current server key."""
    return {"rewrapped": await call.admin.rewrapping.run(call.actor)}


@CALLBACKS.get("/callbacks", Permission.ADMINISTER, records.Callbacks, administers=True)
async def list_callbacks(call: Call) -> Document:
    """List the callbacks of the project with their events."""
    found = await call.admin.callbacks.list(call.actor)
    return {"items": [callback_document(callback) for callback in found]}


@CALLBACKS.post(
    "/callbacks",
    Permission.ADMINISTER,
    records.NewCallback,
    status=201,
    audit="callback.create",
    example={"url": "https://example.com/told", "events": ["dead", "recovered"]},
    one_time=True,
    administers=True,
)
async def create_callback(call: Call, body: records.CallbackToMake) -> Document:
    """Send events of one job or of all to a URL; the signing key is shown once, here."""
    made = await call.admin.callbacks.create(
        call.actor, body.url, frozenset(body.events), body.job or None
    )
    return callback_document(made.callback) | {"signing_key": made.signing_key}


@CALLBACKS.delete(
    "/callbacks/{id}",
    Permission.ADMINISTER,
    records.Done,
    audit="callback.delete",
    administers=True,
)
async def delete_callback(call: Call, id: str) -> Document:
    """Stop sending events to a callback, and delete it."""
    await call.admin.callbacks.delete(call.actor, id)
    return _DONE


@SESSION.get("/session", Permission.READ, records.Me)
async def get_session(call: Call) -> Document:
    """Read the caller's name, project and permissions."""
    actor = call.actor
    return {
        "name": actor.name,
        "project": actor.project,
        "permissions": sorted(actor.permissions),
    }


@SESSION.put(
    "/session/password",
    Permission.READ,
    records.Done,
    audit="user.password",
    example={"new": "correct horse battery"},
    session_only=True,
    in_clients=False,
    administers=True,
)
async def set_password(call: Call, body: records.PasswordToSet) -> Document:
    """Set the caller's own password, in a session; all of the caller's sessions end."""
    kind, _, name = call.actor.name.partition(":")
    if kind != "user":
        raise NotFound("user", call.actor.name)
    await call.admin.users.set_password(call.actor, name, body.current, body.new)
    return _DONE


@TOKENS.post(
    "/tokens",
    Permission.READ,
    records.Token,
    status=201,
    audit="token.issue",
    one_time=True,
    session_only=True,
    in_clients=False,
    administers=True,
)
async def issue_token(call: Call) -> Document:
    """Issue a token that identifies the caller for 15 minutes; needs a logged-in session."""
    kind, _, name = call.actor.name.partition(":")
    if kind != "user":
        raise InvalidInput("a token identifies a user, and authentication is off")
    user = await call.admin.directory.find(name)
    if user is None:
        raise NotFound("user", call.actor.name)
    token = await call.admin.issuer.issue(user)
    await call.admin.audit.record(call.actor, "token.issue", f"user/{user.name}")
    return {"token": token}


@TOKENS.get("/jwks", None, records.Jwks, administers=True)
async def get_jwks(call: Call) -> Document:
    """Read the public keys that tokens are verified with."""
    return await call.admin.issuer.jwks()


def _new_key(made: NewKey) -> Document:
    return key_document(made.key, None) | {"key": made.token}


def _project(project: Project) -> Document:
    return {
        "name": project.name,
        "title": project.title,
        "created_at": instant_text(project.created_at),
        "created_by": project.created_by,
    }


def _object(document: Any) -> Document:
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise InvalidInput("the body must be an object")
    return document


def _without_retention(field: str) -> str:
    return field.removeprefix("retention").removeprefix(".")


def _entries(call: Call, page: Page[Entry], scope: tuple[str, str]) -> Document:
    items = [entry_document(entry) for entry in page.items]
    return {"items": items, "next_cursor": call.seal_cursor(page.cursor, *scope)}
