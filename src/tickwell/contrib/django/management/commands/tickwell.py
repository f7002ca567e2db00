"""`manage.py tickwell …`: every command of `tickwell`, on the project's store."""

from __future__ import annotations

import os
import sys
from argparse import REMAINDER
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

#: What worker processes import to have the jobs of the project.
APP = "tickwell.contrib.django:scheduler"


class Command(BaseCommand):  # type: ignore[misc]
    """Passes its arguments on to the command line of Tickwell."""

    help = "Run a command of Tickwell on the project's store: serve, worker, jobs list, …"
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own attribute

    def run_from_argv(self, argv: list[str]) -> None:
        """Take everything that Django does not take for itself."""
        parser = CommandParser(add_help=False, allow_abbrev=False)
        for option in ("--settings", "--pythonpath"):  # applied by Django already
            parser.add_argument(option)
        _, arguments = parser.parse_known_args(argv[2:])
        _run(arguments, f"{Path(argv[0]).name} {argv[1]}")

    def print_help(self, prog_name: str, subcommand: str) -> None:
        """For `manage.py help tickwell`."""
        _run(["--help"], f"{Path(prog_name).name} {subcommand}")

    def add_arguments(self, parser: CommandParser) -> None:
        """For `call_command("tickwell", "jobs", "list")`."""
        parser.add_argument("arguments", nargs=REMAINDER)

    def handle(self, *_: Any, arguments: list[str], **__: Any) -> None:
        """The same inside a program, which goes on after a success."""
        try:
            _run(arguments, "manage.py tickwell")
        except SystemExit as end:
            if end.code:
                raise


def _run(arguments: list[str], program: str) -> None:
    from tickwell.cli.main import main
    from tickwell.contrib.django import scheduler

    configuration = scheduler.configuration
    os.environ.update(configuration.environment)
    os.environ["TICKWELL_STORE"] = scheduler.settings.store
    os.environ["TICKWELL_PROJECT"] = configuration.project
    if arguments[:1] == ["worker"]:
        arguments = ["serve", "--role", "planner,worker", "--no-http", *arguments[1:]]
    if arguments[:1] == ["serve"] and not any(each.startswith("--app") for each in arguments):
        arguments = [*arguments, "--app", APP]
        # Worker processes are started as `python -m tickwell`, and need the project as well.
        paths = [sys.path[0], os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    main(arguments, program)
