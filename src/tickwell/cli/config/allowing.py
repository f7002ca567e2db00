"""What `--allow-local` opens: webhooks to programs on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from tickwell.domain.health import Finding, Level
from tickwell.errors import InvalidInput, InvalidSetting
from tickwell.settings import Settings

LOCAL: dict[str, Any] = {
    "allow_http": True,
    "allow_private": ("127.0.0.0/8", "::1/128"),
    "allow_ports": ("1-65535",),
}
AllowLocal = Annotated[
    bool,
    typer.Option(
        "--allow-local",
        metavar="",
        help="Allow webhooks to this machine; the service must, too.",
    ),
]


@contextmanager
def naming_the_option() -> Iterator[None]:
    """Where a webhook to this machine is refused, say which option would let it."""
    try:
        yield
    except InvalidInput as error:
        if not error.field.startswith("target.") or "allow_" not in error.hint:
            raise
        hint = f"{error.hint}. For this machine: --allow-local, here and with serve"
        raise type(error)(error.reason, field=error.field, hint=hint) from None


def issuer_findings(settings: Settings) -> list[Finding]:
    """What `tickwell serve` would refuse to start with."""
    if not (settings.oidc or settings.jwt_issuers):
        return []
    from tickwell.services.admin.admin import check_issuers

    try:
        check_issuers(settings)
    except InvalidSetting as error:
        return [Finding(error.field, Level.RED, error.reason, error.hint)]
    return []
