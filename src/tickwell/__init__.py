"""Tickwell: a job scheduler that answers every fire time exactly once, in one process or many."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tickwell.public import *  # noqa: F403 - `__all__` names them
    from tickwell.public import __all__ as __all__
else:
    # A command that needs none of these names, `tickwell --version`, starts in half of the time.

    def __getattr__(name: str) -> Any:
        # Modules have no others than these, and importing asks for some of them.
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module 'tickwell' has no attribute {name!r}")
        public = _import_module("tickwell.public")
        found = {each: getattr(public, each) for each in public.__all__}
        globals().update(found, __all__=public.__all__)
        try:
            return globals()[name]
        except KeyError:
            raise AttributeError(f"module 'tickwell' has no attribute {name!r}") from None

    def __dir__() -> list[str]:
        __getattr__("__all__")
        return sorted({*globals()} - {"TYPE_CHECKING", "Any"})
