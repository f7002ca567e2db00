"""Gives an application its access: who asks, who writes down, who limits."""

from __future__ import annotations

import shlex

from tickwell.log import events as lines
from tickwell.services.admin.admin import Administration
from tickwell.services.admin.admin_factory import (
    make_administration,
    make_request_limits,
    open_administration,
)
from tickwell.services.admin.bootstrap import LOCAL, Bootstrap, bootstrap, ensure_first_user
from tickwell.services.cursor_seal import CursorSeal
from tickwell.services.keyring import Keyring
from tickwell.services.keyring.proof import require_keys
from tickwell.services.limits.request_limits import RequestLimits
from tickwell.services.operations import Tools
from tickwell.services.redaction.store_address import without_password
from tickwell.web.authentication import Authentication
from tickwell.web.context import Context
from tickwell.web.local_access import local_admin, local_visit


def give_access(
    context: Context, tools: Tools, administration: Administration, limits: RequestLimits
) -> None:
    """Administer over this application; ask everybody who they are unless `auth` is off."""
    context.administration = administration
    context.cursors = CursorSeal.under(administration.keyring)
    tools.auditor, tools.limiter = administration.audit, administration.limits
    tools.retention = administration.retentions.of
    if context.settings.auth:
        authentication = Authentication(administration, limits)
        context.authenticate = authentication.authenticate
        context.visit = authentication.visit
    else:
        context.authenticate, context.visit = local_admin, local_visit


def let_in(context: Context, tools: Tools, keyring: Keyring) -> None:
    """Give access to those whom the store knows, by its server keys."""
    _admit(context, tools, make_administration(tools, context.settings, keyring))


async def first_start(context: Context, tools: Tools, *, terminal: bool = True) -> Bootstrap | None:
    """See that the keys are those of the store; at the first start of all, make a way in.

    Without a terminal nothing is made that would have to be shown: a file or a journal keeps it.
    """
    administration = await _administration(context, tools)
    if not terminal:
        await ensure_first_user(administration, tools.clock)
        return None
    return await bootstrap(administration, tools.clock, key_life=context.settings.first_key_life)


async def first_mounted(context: Context, tools: Tools, store: str) -> None:
    """The same inside another application, where nobody waits at a terminal for secrets."""
    administration = await _administration(context, tools)
    if await ensure_first_user(administration, tools.clock) and context.settings.auth:
        lines.FIRST_USER_CREATED.log(user=LOCAL, store=shlex.quote(without_password(store)))


async def _administration(context: Context, tools: Tools) -> Administration:
    """With keys that the store was written with, or that are made now for a new one."""
    found = context.administration
    if found is None:
        found = await open_administration(tools, context.settings)
        _admit(context, tools, found)
    else:
        await require_keys(tools.store, found.keyring, tools.clock.now())
    return found


def _admit(context: Context, tools: Tools, administration: Administration) -> None:
    limits = make_request_limits(tools, context.settings)
    give_access(context, tools, administration, limits)
