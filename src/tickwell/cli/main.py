"""The command line."""

from __future__ import annotations

import sys

import typer

from tickwell.cli.serve import serve
from tickwell.errors import InvalidInput, TickwellError

app = typer.Typer(
    name="tickwell",
    help="A job scheduler that answers every fire time exactly once.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(serve)


@app.command()
def version() -> None:
    """Print the version."""
    from importlib.metadata import version as installed

    typer.echo(installed("tickwell"))


def main() -> None:
    """Run a command. Exit code 2: what was asked for cannot be; 1: it failed."""
    try:
        app()
    except TickwellError as error:
        typer.echo(f"tickwell: {error}", err=True)
        sys.exit(2 if isinstance(error, InvalidInput) else 1)
