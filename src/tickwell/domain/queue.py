"""Queues: named lanes that workers take executions from, shared by all projects."""

from __future__ import annotations

#: Where a paused queue is noted, as a record under its name: the kind, and the project.
PAUSE_KIND = "queue_pause"
PAUSE_PROJECT = "_platform"
