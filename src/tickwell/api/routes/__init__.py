"""One module for each noun; `ROUTERS` is all of them."""

from __future__ import annotations

from fastapi import APIRouter

from tickwell.api.routes import (
    audit,
    bulk,
    callbacks,
    checkup,
    dead_letters,
    description,
    events,
    executions,
    health,
    jobs,
    keys,
    members,
    metrics,
    observability,
    previews,
    projects,
    queues,
    retention,
    runs,
    secrets,
    session,
    tokens,
    users,
    workers,
)

#: Under `/api/v1`, and the same under `/api`.
ROUTERS: tuple[APIRouter, ...] = (
    jobs.router,
    runs.router,
    executions.router,
    dead_letters.router,
    queues.router,
    workers.router,
    observability.router,
    checkup.router,
    bulk.router,
    previews.router,
    events.router,
    keys.router,
    members.router,
    users.router,
    projects.router,
    retention.router,
    secrets.router,
    audit.router,
    callbacks.router,
    session.router,
    tokens.router,
    description.router,
)
#: At the root.
ROOT: tuple[APIRouter, ...] = (health.router, metrics.router)
