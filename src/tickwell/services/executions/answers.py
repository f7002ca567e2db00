"""Addresses at which anybody who has one may answer what an execution waits for."""

from __future__ import annotations

import json

from tickwell.errors import InvalidInput, InvalidSetting, NotFound
from tickwell.services.cursor_seal import CursorSeal
from tickwell.settings import Settings

_SCOPE = "answer"


def answer_token(seal: CursorSeal, project: str, id: str, name: str) -> str:
    """What names a question and proves that it was asked here, by a server key."""
    sealed = seal.seal(json.dumps([project, id, name], separators=(",", ":")), _SCOPE)
    return sealed or ""


def answer_url(settings: Settings, project: str, id: str, name: str) -> str:
    """Where anybody who has this address may answer what an execution waits for, once."""
    from tickwell.services.keyring.source import load_keys  # noqa: PLC0415 - cryptography is heavy

    if not settings.public_url:
        raise InvalidSetting(
            "is not set, so an answer has no address",
            field="public_url",
            hint="For example public_url=https://jobs.example.com",
        )
    keys = load_keys(settings, make=True)
    seal = CursorSeal.of_process() if keys is None else CursorSeal.under(keys)
    token = answer_token(seal, project, id, name)
    return f"{settings.public_url.rstrip('/')}/api/v1/answers/{token}"


def read_token(seal: CursorSeal, token: str) -> tuple[str, str, str]:
    """Project, execution and name of the question."""
    try:
        opened = seal.open(token, _SCOPE)
    except InvalidInput:
        raise NotFound("question", token[:20]) from None
    project, id, name = json.loads(opened or "[]")
    return project, id, name
