"""`tickwell completion`: the script that makes a shell complete commands and names of jobs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Shell(StrEnum):
    """Shells that have a script."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def completion(
    context: typer.Context,
    *,
    shell: Annotated[Shell, typer.Argument(help="Your shell.")],
) -> None:
    """Print the completion script: eval "$(tickwell completion bash)"."""
    from typer.completion import shell_complete

    command = context.find_root().command
    shell_complete(command, {}, "tickwell", "_TICKWELL_COMPLETE", f"source_{shell.value}")
