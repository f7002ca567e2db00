"""Settings: one module for each part of them."""

from __future__ import annotations

from tickwell.ui.views.settings import (
    account,
    audit,
    calendars,
    callbacks,
    channels,
    keys,
    limits,
    members,
    projects,
    retention,
    secrets,
    users,
)

ROUTERS = (
    account.router,
    members.router,
    keys.router,
    secrets.router,
    callbacks.router,
    channels.router,
    calendars.router,
    limits.router,
    retention.router,
    audit.router,
    users.router,
    projects.router,
)
