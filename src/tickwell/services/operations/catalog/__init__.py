"""Every operation, declared once; `OPERATIONS` has them by id."""

from __future__ import annotations

from collections.abc import Mapping

from tickwell.services.operations.catalog import (
    admin,
    alerts,
    calendars,
    executions,
    jobs,
    monitors,
    pauses,
    service,
)
from tickwell.services.operations.declaration import Operation

_GROUPS = (
    jobs.GROUP,
    executions.GROUP,
    executions.DEAD_LETTERS,
    pauses.GROUP,
    service.QUEUES,
    service.WORKERS,
    service.OBSERVABILITY,
    service.HEALTH,
    monitors.GROUP,
    alerts.GROUP,
    service.BULK,
    service.PREVIEWS,
    calendars.GROUP,
    admin.KEYS,
    admin.MEMBERS,
    admin.USERS,
    admin.PROJECTS,
    admin.RETENTION,
    admin.SECRETS,
    admin.AUDIT,
    admin.CALLBACKS,
    admin.SESSION,
    admin.TOKENS,
)
OPERATIONS: Mapping[str, Operation] = {
    each.id: each for group in _GROUPS for each in group.operations
}
