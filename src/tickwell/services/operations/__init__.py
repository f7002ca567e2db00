"""The use cases that every face calls: an actor asks, in its project, and changes are noted.

`Operations` bundles them: `operations.jobs.pause(actor, key, why="…")`.
"""

from __future__ import annotations

from tickwell.services.operations.bundle import Operations
from tickwell.services.operations.ports import Auditor, Limiter, Unaudited, Unlimited
from tickwell.services.operations.tools import Tools

__all__ = ["Auditor", "Limiter", "Operations", "Tools", "Unaudited", "Unlimited"]
