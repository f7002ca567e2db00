"""The public surface as text: `.venv/bin/python -m tests.library.surface` writes surface.txt."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints, is_typeddict

FILE = Path(__file__).parent / "surface.txt"
#: Modules that library users import from.
MODULES = (
    "tickwell",
    "tickwell.errors",
    "tickwell.events",
    "tickwell.filters",
    "tickwell.policies",
    "tickwell.testing",
)


def described() -> str:
    """Every public name of every public module, with its signature."""
    text = "\n".join(line for name in MODULES for line in _module(name)) + "\n"
    return re.sub(r"frozenset\(\{(.*?)\}\)", _in_order, text)


def _in_order(found: re.Match[str]) -> str:
    """A set, whose order is another one in each process."""
    return f"frozenset({{{', '.join(sorted(found[1].split(', ')))}}})"


def _module(name: str) -> Iterator[str]:
    module = import_module(name)
    for each in sorted(_exported(module)):
        found = getattr(module, each)
        if inspect.isclass(found):
            yield from _class(f"{name}.{each}", found)
        elif inspect.isfunction(found):
            yield f"{name}.{each}{inspect.signature(found)}"
        else:
            yield f"{name}.{each} = {found}".replace("typing.", "")


def _exported(module: Any) -> list[str]:
    if hasattr(module, "__all__"):
        return list(module.__all__)
    own = [name for name, each in vars(module).items() if inspect.isclass(each)]
    return [name for name in own if getattr(module, name).__module__ == module.__name__]


def _class(name: str, found: Any) -> Iterator[str]:
    yield f"{name}({', '.join(base.__name__ for base in found.__bases__)})"
    if is_typeddict(found):
        yield from (f"{name}.{each}: {_kind(of)}" for each, of in found.__annotations__.items())
    elif issubclass(found, enum.Enum):
        yield from (f"{name}.{member.name} = {member.value!r}" for member in found)
    else:
        yield from _members(name, found)


def _members(name: str, found: Any) -> Iterator[str]:
    is_record = dataclasses.is_dataclass(found)
    fields = {each.name: each for each in dataclasses.fields(found)} if is_record else {}
    if "__init__" in vars(found) and not _is_plain(found):
        yield f"{name}.__init__{inspect.signature(found.__init__)}"
    for each, value in inspect.getmembers_static(found):
        if not each.startswith("_") and each not in fields and not _is_foreign(found, each):
            yield f"{name}.{each}{_signature(value)}"
    for each, field in sorted(fields.items()):
        if not each.startswith("_"):
            yield f"{name}.{each}: {_kind(get_annotation(found, each))}{_default(field)}"


def _is_plain(found: Any) -> bool:
    """Whether its fields say how it is made."""
    made: Any = getattr(found, "__dataclass_params__", None)
    return made is not None and bool(made.init)


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f" = {field.default!r}"
    return "" if field.default_factory is dataclasses.MISSING else " = …"


def _signature(member: Any) -> str:
    if isinstance(member, property):
        getter: Any = member.fget
        return f": {_kind(inspect.signature(getter).return_annotation)}"
    if isinstance(member, classmethod | staticmethod):
        return str(inspect.signature(member.__func__))
    return str(inspect.signature(member)) if callable(member) else ""


def get_annotation(found: type, name: str) -> object:
    """As it is written in the class that has the field."""
    for base in found.__mro__:
        if name in vars(base).get("__annotations__", {}):
            return base.__annotations__[name]
    return get_type_hints(found)[name]


def _kind(kind: object) -> str:
    return getattr(kind, "__forward_arg__", None) or str(kind)


def _is_foreign(found: type, name: str) -> bool:
    """What comes from a class of Python itself."""
    owner = next(base for base in found.__mro__ if name in vars(base))
    return not owner.__module__.startswith("tickwell")


if __name__ == "__main__":
    FILE.write_text(described())
    sys.stdout.write(f"wrote {FILE}\n")
