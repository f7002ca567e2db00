"""Answers that hold a secret are given once: kept for a repetition, they would be in the store."""

from __future__ import annotations

from fastapi import Request

from tickwell.errors import InvalidInput
from tickwell.web.idempotency import key_of


def require_no_key(request: Request) -> None:
    """Refuse an `Idempotency-Key` that could not be kept to."""
    if key_of(request) is not None:
        raise InvalidInput(
            "is not taken here: the answer holds a secret, and is kept nowhere",
            field="Idempotency-Key",
            hint="Leave it out; take away what was made twice",
        )
