"""Payloads of jobs and runs: checked before anything is written."""

from __future__ import annotations

from typing import Any, Final

from tickwell.domain.payload import LARGEST, checked

__all__ = ["KEEP", "LARGEST", "checked"]

#: Leave a payload as it is; None stands for the job's own.
KEEP: Final[Any] = object()
