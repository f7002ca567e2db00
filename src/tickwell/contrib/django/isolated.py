"""Where the child process of an isolated handler finds it: Django has to be set up first."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tickwell.executors.handlers import Handler

_MODULE = "module:"


def locate(handler: Handler) -> None:
    """Let a child process import the handler by way of this module."""
    if handler.isolation == "process":
        # A name of one part: the child looks up one part after the other.
        handler.qualname = f"{_MODULE}{handler.module.replace('.', '/')}.{handler.qualname}"
        handler.module = __name__


def __getattr__(name: str) -> Any:
    if not name.startswith(_MODULE):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import tickwell.contrib.django as project

    _ = project.scheduler  # sets Django up
    return import_module(name.removeprefix(_MODULE).replace("/", "."))
