"""What `--allow-local` opens: webhooks to programs on this machine."""

from __future__ import annotations

from typing import Annotated, Any

import typer

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
