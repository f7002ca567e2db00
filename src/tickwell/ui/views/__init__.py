"""One module for each page."""

from __future__ import annotations

from tickwell.ui import live, static_files
from tickwell.ui.views import (
    alerts,
    calendar,
    charts,
    dead_letters,
    editor,
    executions,
    job,
    jobs,
    login,
    maintenance,
    monitors,
    oidc,
    overview,
    pauses,
    preferences,
    reference,
    settings,
    slots,
    timeline,
    versions,
    workers,
)

ROUTERS = (
    static_files.router,
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
    dead_letters.router,
    charts.router,
    workers.router,
    pauses.router,
    maintenance.router,
    monitors.router,
    alerts.router,
    preferences.router,
    reference.router,
    *settings.ROUTERS,
    login.router,
    oidc.router,
)
