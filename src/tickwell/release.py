"""The version of this package, as it is installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def _installed() -> str:
    try:
        return version("tickwell")
    except PackageNotFoundError:  # run from its sources
        return ""


#: Empty where the package is not installed.
VERSION = _installed()
