"""A rejected form, so that its error page can show what was typed."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from tickwell.errors import InvalidInput, TickwellError
from tickwell.ui.paths import path_of
from tickwell.web.same_origin import require_own_site

#: Forms without secret fields: those are never shown again.
_WITHOUT_SECRETS = ("/jobs", "/executions", "/dead")
_TOKEN = "csrf"  # noqa: S105 - the name of a field


@dataclass(frozen=True, slots=True)
class SubmittedForm:
    """A form as submitted, with its CSRF token among the fields."""

    action: str
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """All fields as text, to copy."""
        return "\n".join(f"{name}: {value}" for name, value in self.fields if name != _TOKEN)

    def wrong(self, error: Exception) -> tuple[str, str] | None:
        """The field that caused an error, and its value."""
        field = error.field if isinstance(error, InvalidInput) else ""
        return next((each for each in self.fields if each[0] == field), None)


async def submitted_form(request: Request) -> SubmittedForm:
    """The form of a request; empty if another site may have submitted it."""
    action = path_of(request)
    if request.method != "POST" or not action.startswith(_WITHOUT_SECRETS):
        return SubmittedForm(action)
    try:
        require_own_site(request)
        found = (await request.form()).multi_items()
    except (TickwellError, HTTPException, ClientDisconnect):
        return SubmittedForm(action)
    fields = ((name, value) for name, value in found if isinstance(value, str) and value)
    return SubmittedForm(action, tuple(fields))
