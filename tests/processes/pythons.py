"""Python interpreters of this machine besides the one that runs the tests."""

import shutil
import subprocess
import sys
from pathlib import Path


def installed(minor: int) -> str | None:
    """A Python 3.`minor`: this one, one on the PATH, or one of pyenv's."""
    found = [sys.executable] if sys.version_info[1] == minor else []
    found += [path for path in [shutil.which(f"python3.{minor}")] if path]
    found += map(str, sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python")))
    return next((each for each in found if _works(each)), None)


def _works(python: str) -> bool:
    """Whether it is one: pyenv has names on the path that lead to none."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0
