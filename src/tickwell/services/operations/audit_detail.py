"""What the audit log keeps of an act on many: which were chosen, and by what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from tickwell.ports.records import JobFilter
from tickwell.services.documents import instant_text
from tickwell.services.executions.dead_letters import DeadFilter

#: Ids that are named, so that the entry is kept as it is and not as its hash.
NAMED = 50
_INSTANTS = frozenset({"since", "until"})


def filter_document(where: JobFilter | DeadFilter) -> dict[str, Any]:
    """What a filter asks for; the project is that of the entry."""
    filters = {each.name: getattr(where, each.name) for each in fields(where)}
    return {
        name: _said(name, value)
        for name, value in filters.items()
        if value is not None and name != "project"
    }


def _said(name: str, value: Any) -> Any:
    if name in _INSTANTS:
        return instant_text(value)
    return sorted(value) if isinstance(value, frozenset) else value


def ids_document(ids: Sequence[str]) -> dict[str, Any]:
    """The first of them, and how many are not named."""
    left = len(ids) - NAMED
    return {"ids": [*ids[:NAMED]]} | ({"not_named": left} if left > 0 else {})
