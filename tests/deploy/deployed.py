"""What the files in deploy/ have in common: schemas, and commands and settings that must exist."""

import json
import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema_rs
import typer
import yaml

from tickwell.cli.application import application
from tickwell.cli.config.configuration import OTHERS, configure
from tickwell.settings import Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SCHEMAS = Path(__file__).parent / "schemas"
#: Programs that come in wheels are next to the interpreter.
BIN = Path(sys.executable).parent


def load(path):
    return yaml.safe_load(path.read_text("utf-8"))


def schema(name):
    return json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))


def faults(document, schema):
    """Where a document is not as its schema says."""
    validator = jsonschema_rs.validator_for(schema)
    return [f"{each.instance_path}: {each.message}" for each in validator.iter_errors(document)]


def parse(arguments):
    """What the real command line makes of these arguments; a wrong one raises."""
    name, rest = "tickwell", list(arguments)
    command: Any = typer.main.get_command(application())
    context = None
    while hasattr(command, "commands"):
        context = command.make_context(name, rest, parent=context)
        name, command, rest = command.resolve_command(
            context, [*context._protected_args, *context.args]
        )
    return command.make_context(name, rest, parent=context).params


def check_variables(environment):
    """Each variable exists, and each value is one that the setting takes; the settings."""
    ours = {name: text for name, text in environment.items() if name.startswith("TICKWELL_")}
    known = {f"TICKWELL_{each.name.upper()}" for each in fields(Settings)} | set(OTHERS)
    assert set(ours) <= known
    return configure(environ=ours, folder=DEPLOY).settings


def seconds(text):
    """Of a duration as Compose, systemd and Tickwell write it: 60s."""
    found = re.fullmatch(r"(\d+)s", text)
    assert found, text
    return int(found[1])
