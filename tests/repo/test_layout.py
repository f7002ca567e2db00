"""Promises that the repository makes about itself."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import tickwell
from scripts import sizes

ROOT = Path(__file__).parent.parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LEFT_OVER = re.compile(r"\b(TODO|FIXME|XXX|HACK|NotImplementedError)\b")
# An address behind a word that tells an installer where to look.
REGISTRY = re.compile(r"""(index|find-links|registry|resolved)[\w-]*["']?\s*[=: ]\s*["']?\w+://""")


def named(paths):
    return pytest.mark.parametrize("path", paths, ids=lambda path: str(path.relative_to(ROOT)))


def tracked_files():
    # Whoever owns the checkout: git refuses another user's otherwise.
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


def lines_matching(pattern, paths):
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1)
        if pattern.search(line)
    ]


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_no_file_is_too_long():
    assert sizes.too_long() == {}


def test_nothing_is_left_unfinished():
    assert lines_matching(LEFT_OVER, SOURCES) == []


@named(SOURCES)
def test_every_module_says_what_it_is(path):
    tree = ast.parse(path.read_text("utf-8"))
    assert ast.get_docstring(tree) is not None


def test_the_public_names_are_the_visible_ones():
    visible = {
        name
        for name in dir(tickwell)
        if not name.startswith("_") and not isinstance(getattr(tickwell, name), ModuleType)
    }
    # `annotations` is what `from __future__ import annotations` leaves behind.
    assert visible - {"annotations"} == {name for name in tickwell.__all__ if name[0] != "_"}


@named(sorted((ROOT / "src/tickwell/domain").rglob("*.py")))
def test_the_domain_needs_the_standard_library_only(path):
    allowed = sys.stdlib_module_names | {"tickwell"}
    assert {name.split(".")[0] for name in imported_modules(path)} <= allowed


def test_no_file_names_a_registry():
    assert lines_matching(REGISTRY, tracked_files()) == []


def test_pins_hold_for_any_registry():
    assert lines_matching(re.compile("://"), (ROOT / "constraints").glob("*.txt")) == []


def test_no_file_knows_where_the_checkout_is():
    here = re.compile(rf"{re.escape(str(ROOT))}\b|/(home|Users)/\w+/")
    assert lines_matching(here, tracked_files()) == []
