"""Recurrence rules of RFC 5545, read and evaluated on wall time."""

from __future__ import annotations

from tickwell.domain.rrule.parts import Parts, read_parts
from tickwell.domain.rrule.recurrence import Recurrence

__all__ = ["Parts", "Recurrence", "read_parts"]
