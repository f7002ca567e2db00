"""A field that takes one of a few words."""

from __future__ import annotations

from tickwell.errors import InvalidTrigger


def check_choice(value: object, choices: tuple[str, ...], field: str) -> None:
    """Refuse what is none of them."""
    if value not in choices:
        hint = f"Choose one of {', '.join(choices)}"
        raise InvalidTrigger(f"cannot be {value!r}", field=field, hint=hint)
