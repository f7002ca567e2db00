"""What `--allow-local` opens: webhooks to programs on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from tickwell.errors import InvalidInput

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
        help="Let its webhooks go to this machine; the service needs the same option.",
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
