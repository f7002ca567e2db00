"""What somebody typed into a form that was refused: it is theirs, and they get it back."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from tickwell.errors import InvalidInput, TickwellError
from tickwell.ui.addresses import path_of
from tickwell.web.same_origin import require_own_site

#: Forms without a field for a secret, which no page shows again.
_OPEN = ("/jobs", "/executions", "/dead")
_TOKEN = "csrf"  # noqa: S105 - the name of a field


@dataclass(frozen=True, slots=True)
class Kept:
    """A form as it was sent, the token of its page among its fields."""

    action: str
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """All that was sent, to be copied."""
        return "\n".join(f"{name}: {value}" for name, value in self.fields if name != _TOKEN)

    def wrong(self, error: Exception) -> tuple[str, str] | None:
        """The field that an error is about, and what it holds."""
        field = error.field if isinstance(error, InvalidInput) else ""
        return next((each for each in self.fields if each[0] == field), None)


async def kept(request: Request) -> Kept:
    """The form of a request; of one that another site may have made nothing is repeated."""
    action = path_of(request)
    if request.method != "POST" or not action.startswith(_OPEN):
        return Kept(action)
    try:
        require_own_site(request)
        found = (await request.form()).multi_items()
    except (TickwellError, HTTPException, ClientDisconnect):
        return Kept(action)
    fields = ((name, value) for name, value in found if isinstance(value, str) and value)
    return Kept(action, tuple(fields))
