"""Gives an application its access: who asks, who writes down, who limits."""

from __future__ import annotations

import shlex

from fastapi import Request

from tickwell.errors import NotFound
from tickwell.log import events as lines
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.admin.admin import (
    LOCAL,
    AdminServices,
    Bootstrap,
    bootstrap,
    ensure_first_user,
    make_admin,
    make_request_limits,
    open_admin,
)
from tickwell.services.cursor_seal import CursorSeal
from tickwell.services.keyring import Keyring
from tickwell.services.keyring.source import require_keys
from tickwell.services.limits.request_limits import RequestLimits
from tickwell.services.operations import OperationContext
from tickwell.services.projects.platform import DEFAULT
from tickwell.services.redaction.store_address import without_password
from tickwell.web.authentication import Authentication, is_of_platform, project_cookie
from tickwell.web.context import Context, administration_of, context_of
from tickwell.web.host_header import is_own_name
from tickwell.web.problems import Misdirected
from tickwell.web.same_origin import READS, require_own_site


def give_access(
    context: Context,
    operation_context: OperationContext,
    admin: AdminServices,
    limits: RequestLimits,
) -> None:
    """Administer over this application; ask everybody who they are unless `auth` is off."""
    context.admin = admin
    context.cursors = CursorSeal.under(admin.keyring)
    operation_context.auditor, operation_context.limiter = admin.audit, admin.limits
    operation_context.retention = admin.retentions.of
    if context.settings.auth:
        authentication = Authentication(admin, limits)
        context.authenticate = authentication.authenticate
        context.visit = authentication.visit
    else:
        context.authenticate, context.visit = local_admin, local_visit


def let_in(context: Context, operation_context: OperationContext, keyring: Keyring) -> None:
    """Give access to those whom the store knows, by its server keys."""
    _admit(
        context,
        operation_context,
        make_admin(operation_context, context.settings, keyring),
    )


async def first_start(
    context: Context, operation_context: OperationContext, *, terminal: bool = True
) -> Bootstrap | None:
    """See that the keys are those of the store; at the first start of all, make a way in.

    Without a terminal nothing is made that would have to be shown: a file or a journal keeps it.
    """
    admin = await _admin(context, operation_context)
    if not terminal:
        await ensure_first_user(admin, operation_context.clock)
        return None
    return await bootstrap(admin, operation_context.clock, key_life=context.settings.first_key_life)


async def first_mounted(context: Context, operation_context: OperationContext, store: str) -> None:
    """The same inside another application, where nobody waits at a terminal for secrets."""
    admin = await _admin(context, operation_context)
    if await ensure_first_user(admin, operation_context.clock) and context.settings.auth:
        lines.FIRST_USER_CREATED.log(user=LOCAL, store=shlex.quote(without_password(store)))


async def _admin(context: Context, operation_context: OperationContext) -> AdminServices:
    """With keys that the store was written with, or that are made now for a new one."""
    found = context.admin
    if found is None:
        found = await open_admin(operation_context, context.settings)
        _admit(context, operation_context, found)
    else:
        await require_keys(operation_context.store, found.keyring, operation_context.clock.now())
    return found


def _admit(context: Context, operation_context: OperationContext, admin: AdminServices) -> None:
    limits = make_request_limits(operation_context, context.settings)
    give_access(context, operation_context, admin, limits)


#: Names the project of a request that could be in several.
HEADER = "x-tickwell-project"
_ALL = frozenset(Permission)


async def local_admin(request: Request) -> Actor:
    """Every caller may do everything, in the project that the request names."""
    _require_own_machine(request)
    named = request.headers.get(HEADER, DEFAULT)
    if await _is_known(request, named):
        return _actor(request, named)
    if is_of_platform(request):
        return _actor(request, DEFAULT)
    raise NotFound("project", named)


async def local_visit(request: Request) -> tuple[Actor, str]:
    """Every visitor may do everything, in the project that they chose last."""
    _require_own_machine(request)
    chosen = request.cookies.get(project_cookie(request), DEFAULT)
    return _actor(request, chosen if await _is_known(request, chosen) else DEFAULT), ""


def _require_own_machine(request: Request) -> None:
    host = request.headers.get("host", "")
    if not is_own_name(host, context_of(request).settings.host):
        raise Misdirected(
            f"{host[:100]!r} is not this machine, and authentication is off here;"
            " ask for 127.0.0.1, or name this host in the setting `host`"
        )
    if request.method not in READS:
        require_own_site(request)


def _actor(request: Request, project: str) -> Actor:
    return Actor(
        name="local",
        project=project,
        permissions=_ALL,
        address=request.client.host if request.client else "",
        request_id=request.state.request_id,
    )


async def _is_known(request: Request, project: str) -> bool:
    return project == DEFAULT or await administration_of(request).projects.is_known(project)
