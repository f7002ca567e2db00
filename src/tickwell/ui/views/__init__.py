"""One module for each page."""

from __future__ import annotations

from tickwell.ui import files, live
from tickwell.ui.views import (
    calendar,
    charts,
    dead,
    editor,
    executions,
    job,
    jobs,
    login,
    oidc,
    overview,
    preferences,
    settings,
    slots,
    timeline,
    versions,
    workers,
)

ROUTERS = (
    files.router,
    live.router,
    overview.router,
    jobs.router,
    editor.router,
    job.router,
    slots.router,
    versions.router,
    executions.router,
    timeline.router,
    calendar.router,
    dead.router,
    charts.router,
    workers.router,
    preferences.router,
    *settings.ROUTERS,
    login.router,
    oidc.router,
)
