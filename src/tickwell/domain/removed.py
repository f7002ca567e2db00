"""Declared jobs that were removed because they were over: how often each ran is remembered.

Otherwise the next deployment would take such a job for a new one, and `max_runs` would start over.
"""

from __future__ import annotations

from typing import Any

from tickwell.domain.job import Entry

#: The kind of the records, by the name of the job.
REMOVED_KIND = "declared-removed"


def removed_document(entry: Entry) -> dict[str, Any]:
    """The record of a declared job that is about to be removed."""
    return {"app": entry.job.app, "runs": entry.cursor.runs}


def runs_before(document: dict[str, Any], app: str) -> int | None:
    """How often the job ran before it was removed; None if it belonged to another app."""
    return int(document["runs"]) if document.get("app") == app else None
