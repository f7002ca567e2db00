"""Addresses at which anybody who has one may answer what an execution waits for."""

from __future__ import annotations

import json

from tickwell.errors import InvalidInput, NotFound
from tickwell.services.cursor_seal import CursorSeal

_SCOPE = "answer"


def answer_token(seal: CursorSeal, project: str, id: str, name: str) -> str:
    """What names a question and proves that it was asked here, by a server key."""
    sealed = seal.seal(json.dumps([project, id, name], separators=(",", ":")), _SCOPE)
    return sealed or ""


def read_token(seal: CursorSeal, token: str) -> tuple[str, str, str]:
    """Project, execution and name of the question."""
    try:
        opened = seal.open(token, _SCOPE)
    except InvalidInput:
        raise NotFound("question", token[:20]) from None
    project, id, name = json.loads(opened or "[]")
    return project, id, name
