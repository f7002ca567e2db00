"""`tickwell top`: a live view of health, workers, queues, running executions and failures."""

from __future__ import annotations

from tickwell.cli.top.command import register

__all__ = ["register"]
