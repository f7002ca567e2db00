"""The instructions of the processes of a verification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

#: In the order in which they are run.
SUITES = ("contract", "contention", "kill", "skew")


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """A verification."""

    #: The store's URL with credentials: so it is passed on standard input.
    url: str
    suites: tuple[str, ...] = SUITES
    quick: bool = False
    as_json: bool = False
    #: The function that makes a store of a URL, for stores that are not Tickwell's own.
    make: str = "tickwell.wiring:make_store"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractOrders:
    """For the process that runs the contract."""

    url: str
    tag: str
    make: str
    #: None: all.
    topics: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOrders:
    """For a process with an engine."""

    #: Of the scratch store.
    url: str
    make: str
    #: The file for its notes.
    notes: str
    #: Milliseconds that its wall clock is ahead.
    offset: int = 0


def maker(name: str) -> Callable[[str], Any]:
    """The function that `module:function` names."""
    module, _, function = name.partition(":")
    found: Callable[[str], Any] = getattr(import_module(module), function)
    return found
