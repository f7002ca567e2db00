"""The command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer

from tickwell.cli.application import application
from tickwell.cli.exits import PROGRAM_NAME, code_of
from tickwell.cli.output.text import advised, safe
from tickwell.errors import InvalidInput, TickwellError


def _open_standard_streams() -> None:
    """Put something in place of closed ones: the next file to be opened would get their number.

    Whatever else writes to that number then would write into a database.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123


def main(arguments: Sequence[str] | None = None, program: str = "tickwell") -> None:
    """Run a command, by default that of the process. `tickwell.cli.exits` says how it ends."""
    PROGRAM_NAME.set(program)
    _open_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter gets a question mark, not a traceback.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        words = sys.argv[1:] if arguments is None else [*arguments]
        # What a shell may offer next is asked for by a variable, without words.
        app = application(() if "_TICKWELL_COMPLETE" in os.environ else words)
        app(words, prog_name=program)
    except TickwellError as error:
        sys.stdout.flush()
        typer.echo(f"tickwell: {safe(advised(error))}", err=True)
        for other in error.others if isinstance(error, InvalidInput) else ():
            typer.echo(f"tickwell: {safe(advised(other))}", err=True)
        sys.exit(code_of(error))
