"""Operations that are about HTTP itself: sessions, streams, probes, metrics, the description."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.api.routes import description, events, health, metrics, session
from tickwell.services.operations.catalog import operations
from tickwell.services.operations.declaration import Operation

_GROUPS = (
    events.GROUP,
    session.GROUP,
    description.GROUP,
    health.GROUP,
    metrics.GROUP,
)
#: Every operation that the API offers, in the order of its description.
ALL: Sequence[Operation] = (
    *operations().values(),
    *(each for group in _GROUPS for each in group.operations),
)
