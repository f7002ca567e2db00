"""What the processes of a verification are told."""

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

    #: The store as its user names it, with credentials: so it is told on standard input.
    url: str
    suites: tuple[str, ...] = SUITES
    quick: bool = False
    as_json: bool = False
    #: What makes a store of a URL, for a store that Tickwell does not know by itself.
    make: str = "tickwell.wiring:make_store"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractOrders:
    """The process that holds a store to the contract."""

    url: str
    tag: str
    make: str
    #: None: all.
    topics: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOrders:
    """A process with an engine."""

    #: Of the scratch place.
    url: str
    make: str
    #: Where its calls are written down.
    notes: str
    #: Milliseconds by which its wall clock is off.
    offset: int = 0


def maker(name: str) -> Callable[[str], Any]:
    """The function that `module:function` names."""
    module, _, function = name.partition(":")
    found: Callable[[str], Any] = getattr(import_module(module), function)
    return found
