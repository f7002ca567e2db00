"""The reference of the library, from its signatures, docstrings and the comments of its fields."""

import ast
import enum
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import Any

#: In front of a name in an annotation.
_MODULE = re.compile(r"\b(?:tickwell|collections|typing|datetime)(?:\.[a-z_]\w*)*\.(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Page:
    """Public names of one module: those that are defined in one of these places."""

    title: str
    intro: str
    module: str
    #: None: all names that no other page of the module has.
    homes: tuple[str, ...] = ()


#: By their path in the site.
PAGES = {
    "reference/scheduler.md": Page(
        "Scheduler",
        "The object a program holds, what it declares, and what a handler gets."
        " [Library](../library.md) explains it.",
        "tickwell",
    ),
    "reference/triggers.md": Page(
        "Triggers",
        "When a job fires. [Triggers](../triggers.md) explains them.",
        "tickwell",
        ("domain.trigger",),
    ),
    "reference/targets.md": Page(
        "Targets",
        "What a job calls. [Webhooks](../webhooks.md), [handlers](../handlers.md) and"
        " [Celery tasks](../celery-tasks.md) explain them.",
        "tickwell",
        ("domain.target", "domain.http", "domain.celery"),
    ),
    "reference/policies.md": Page(
        "Policies",
        "What happens when a run fails, is late or overlaps. [Policies](../policies.md)"
        " explains them. Durations are shown as they are stored, in milliseconds; write them with"
        ' a unit, as `"10s"`.',
        "tickwell",
        ("domain.policy", "domain.gate"),
    ),
    "reference/records.md": Page(
        "Records",
        "What the scheduler answers: jobs, executions, attempts, slots.",
        "tickwell",
        ("declared.read_models", "domain.execution", "domain.job", "services.slots"),
    ),
    "reference/filters.md": Page("Filters", "Which records to list.", "tickwell.filters"),
    "reference/policy-types.md": Page(
        "Types of policies",
        "What a declaration accepts besides its trigger, for type checkers.",
        "tickwell.policies",
        ("declared.policies",),
    ),
    "reference/events.md": Page(
        "Events", "What hooks get. [Events](../events.md) explains them.", "tickwell.events"
    ),
    "reference/client.md": Page(
        "Client",
        "Calls of a service over HTTP. [Client](../client.md) explains it.",
        "tickwell.client",
    ),
    "reference/receivers.md": Page(
        "Receivers",
        "The other side of a webhook. [Receivers](../receivers.md) explains them.",
        "tickwell.receivers",
    ),
    "reference/testing.md": Page(
        "Testing",
        "Clocks, fakes and the pytest plugin. [Testing](../testing.md) explains them.",
        "tickwell.testing",
    ),
    "reference/celery.md": Page("Celery", "[Celery](../celery.md) explains it.", "tickwell.celery"),
}


def library_pages() -> dict[str, str]:
    """Every page of the reference by its path."""
    return {path: _page(page) for path, page in PAGES.items()}


def names_of(page: Page) -> list[str]:
    """The names that a page describes."""
    module = import_module(page.module)
    taken = [home for each in PAGES.values() if each.module == page.module for home in each.homes]
    return [
        name
        for name in module.__all__
        if (
            _stands_in(getattr(module, name), page.homes)
            if page.homes
            else not _stands_in(getattr(module, name), taken)
        )
    ]


def _stands_in(thing: Any, homes: Iterable[str]) -> bool:
    place = f"{getattr(thing, '__module__', '')}."
    return any(place.startswith(f"tickwell.{home}.") for home in homes)


def _page(page: Page) -> str:
    module = import_module(page.module)
    parts = [f"# {page.title}", page.intro, f"```python\nfrom {page.module} import …\n```"]
    for name in names_of(page):
        parts += _described(name, getattr(module, name))
    return "\n\n".join(parts) + "\n"


def _described(name: str, thing: Any) -> Iterator[str]:
    yield f"## {name}"
    if not inspect.isclass(thing):
        if isinstance(thing, FunctionType):
            yield _code(name, thing)
        yield _doc(thing) if callable(thing) else "A constant."
        return
    if issubclass(thing, enum.Enum):
        yield _doc(thing)
        yield _table("value", [(f"`{each}`", _comment(thing, each)) for each in thing.__members__])
        return
    if not issubclass(thing, BaseException):
        yield _code(name, thing)
    yield _doc(thing)
    rows = [(f"`{field}`", _comment(thing, field)) for field in _fields(thing)]
    if rows:
        yield _table("field", rows)
    for member, value in _members(thing):
        yield f"### {name}.{member}"
        if isinstance(value, property):
            yield _doc(value.fget)
        else:
            yield _code(f"{name}.{member}", value)
            yield _doc(value)


def _fields(thing: Any) -> list[str]:
    if is_dataclass(thing):
        return [field.name for field in fields(thing) if not field.name.startswith("_")]
    if hasattr(thing, "__total__"):
        return list(thing.__annotations__)
    return []


def _members(thing: Any) -> Iterator[tuple[str, Any]]:
    """Public methods and properties, also inherited ones of ours, as the class has them."""
    seen = set()
    for base in thing.__mro__:
        if not base.__module__.startswith("tickwell"):
            continue
        for name, held in vars(base).items():
            value = getattr(held, "__func__", held)
            is_ours = isinstance(value, FunctionType | property)
            if is_ours and not name.startswith("_") and name not in seen and _has_doc(value):
                seen.add(name)
                yield name, value


def _has_doc(value: Any) -> bool:
    return bool((value.fget if isinstance(value, property) else value).__doc__)


def _doc(thing: Any) -> str:
    text = inspect.getdoc(thing) or ""
    # A dataclass without a docstring has its signature for one.
    return "" if text.startswith(f"{getattr(thing, '__name__', '')}(") else text


def _code(name: str, thing: Callable[..., Any]) -> str:
    """A signature as one would write it, a parameter in a line where it is long."""
    try:
        signature = inspect.signature(thing)
    except ValueError:
        return f"```python\n{name}\n```"
    given = [each for each in signature.parameters.values() if each.name not in {"self", "cls"}]
    shown = inspect.Signature(given, return_annotation=inspect.Signature.empty)
    words = [word for word in _split(str(shown)[1:-1]) if word]
    text = f"{'async ' if inspect.iscoroutinefunction(thing) else ''}{name}({', '.join(words)})"
    if len(text) > 88:
        lines = "".join(f"    {word},\n" for word in words)
        text = f"{text.partition('(')[0]}(\n{lines})"
    result = signature.return_annotation
    if not inspect.isclass(thing) and result is not inspect.Signature.empty:
        text += f" -> {result if isinstance(result, str) else inspect.formatannotation(result)}"
    return f"```python\n{_plain(text)}\n```"


def _split(text: str) -> list[str]:
    """At commas that stand in no bracket and no text."""
    words, depth, quote, start = [], 0, "", 0
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
        elif letter == "," and depth == 0:
            words.append(text[start:place].strip())
            start = place + 1
    return [*words, text[start:].strip()]


def _plain(text: str) -> str:
    """Annotations without the quotes and the modules that Python keeps of them."""
    text = re.sub(r": '([^']*)'", r": \1", text)
    text = re.sub(r"<([\w.]+)(?:\.\w+)?: [^>]*>", r"\1", text)
    text = re.sub(r"<function (\w+) at [^>]*>", r"\1", text)
    text = re.sub(r"<factory>|<object object at [^>]*>", "…", text)
    return _MODULE.sub("", text)


@cache
def _comments(thing: Any) -> dict[str, str]:
    """The `#:` sentence above each field or value, or the plain comment of an enum's value."""
    found: dict[str, str] = {}
    for base in reversed(thing.__mro__):
        if not base.__module__.startswith("tickwell"):
            continue
        source = textwrap.dedent(inspect.getsource(base))
        lines = source.splitlines()
        for node in ast.parse(source).body[0].body:  # type: ignore[attr-defined]
            if isinstance(node, ast.AnnAssign | ast.Assign):
                target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                found[getattr(target, "id", "")] = _above(lines, node.lineno - 1)
    return found


def _above(lines: list[str], number: int) -> str:
    words: list[str] = []
    while number > 0 and (line := lines[number - 1].strip()).startswith("#"):
        words.insert(0, line.lstrip("#:").strip())
        number -= 1
    return " ".join(words)


def _comment(thing: Any, name: str) -> str:
    return _comments(thing).get(name, "")


def _table(what: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"| {what} | meaning |", "|---|---|"]
    lines += [f"| {name} | {text.replace('|', chr(92) + '|')} |" for name, text in rows]
    return "\n".join(lines)
