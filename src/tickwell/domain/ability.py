"""Abilities: what a worker must be able to do to run a target, as text that claims compare.

A handler belongs to the project of the scheduler that registered it, so the project is part of
the text: "call:shop/send_report". The project "default" is left out: "call:send_report". A handler
that is shared with all projects is announced as "call:*/send_report". A claim compares these texts
by the index that it has anyway; a condition on the project would be looked at for every row.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256

CALL = "call:"
HTTP = "http"
CELERY = "celery"
#: What no worker has: the job runs outside, and checks in.
EXTERNAL = "external"
#: What the ability of a handler begins with that all projects may call.
SHARED = "call:*/"
#: The project that is left out.
DEFAULT = "default"
#: Stores keep 300 characters: five for the kind, 255 for the handler, and these for the project.
_LONGEST = 39
#: What tells the project from the handler, and what has a meaning of its own where it stands.
_QUOTED = str.maketrans({"%": "%25", "/": "%2F", "*": "%2A", "~": "%7E"})


def call_ability(project: str, handler: str) -> str:
    """What it takes to call a project's handler."""
    if project == DEFAULT and "/" not in handler:
        return CALL + handler
    return f"{CALL}{_quoted(project)}/{handler}"


def shared_ability(handler: str) -> str:
    """What a worker announces that has a handler for all projects."""
    return SHARED + handler


def is_able(ability: str, abilities: Collection[str]) -> bool:
    """Whether one of these will do, the project's own or a shared one."""
    return ability in abilities or as_shared(ability) in abilities


def as_shared(ability: str) -> str:
    """The ability of a shared handler that would do as well; a webhook's is its own."""
    return SHARED + handler_of(ability) if ability.startswith(CALL) else ability


def handler_of(ability: str) -> str:
    """The name of the handler, without its project."""
    project, slash, handler = ability.removeprefix(CALL).partition("/")
    return handler if slash else project


def is_call(ability: str) -> bool:
    """Whether it is about a handler."""
    return ability.startswith(CALL)


def is_shared(ability: str) -> bool:
    """Whether all projects may call it."""
    return ability.startswith(SHARED)


def is_usable_by(project: str, ability: str) -> bool:
    """Whether a job of the project may need it: its own handlers, shared ones, webhooks."""
    if not is_call(ability) or is_shared(ability):
        return True
    return ability == call_ability(project, handler_of(ability))


def _quoted(project: str) -> str:
    quoted = project.translate(_QUOTED)
    if len(quoted) <= _LONGEST:
        return quoted
    return f"~{sha256(project.encode()).hexdigest()[:32]}"
