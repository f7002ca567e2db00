"""Measurements run as processes of their own, so that none inherits another's memory or garbage."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


class ChildFailed(Exception):
    """A measured process ended badly; what it said is above."""


def run_module(module: str, *arguments: object) -> Any:
    """Run one of our own modules; answer the JSON on its last line."""
    return _answer([sys.executable, "-m", module, *map(str, arguments)])


def run_script(python: Path, script: Path, *arguments: object) -> Any:
    """Run a script with another interpreter."""
    return _answer([str(python), str(script), *map(str, arguments)])


def start_module(module: str, *arguments: object) -> "subprocess.Popen[str]":
    """Start one of our own modules and do not wait for it."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def answer_of(child: "subprocess.Popen[str]") -> Any:
    """The JSON of a started module."""
    out, _ = child.communicate()
    return _parse(child.args, child.returncode, out)


def _answer(command: list[str]) -> Any:
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    return _parse(command, done.returncode, done.stdout)


def _parse(command: Any, code: int, out: str) -> Any:
    if code != 0 or not out.strip():
        raise ChildFailed(f"{' '.join(map(str, command))} ended with code {code}")
    return json.loads(out.splitlines()[-1])
