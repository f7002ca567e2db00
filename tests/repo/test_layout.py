"""Promises that the repository makes about itself."""

import ast
import os
import re
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
# A folder of somebody's machine: a home, or where this checkout happens to be.
SOMEWHERE = re.compile(rf"(?<![\w.-])({re.escape(str(ROOT))}(?![\w-])|/(home|Users)/\w+/)")
GENERATED = re.compile(r"\.git|\.venv|\.hypothesis|\..+_cache|__pycache__|dist|node_modules")


def named(paths):
    return pytest.mark.parametrize("path", paths, ids=lambda path: str(path.relative_to(ROOT)))


def repository_files():
    # Not `git ls-files`: the sources may be here without their history, and git not at all.
    for folder, subfolders, names in os.walk(ROOT):
        subfolders[:] = [name for name in subfolders if not GENERATED.fullmatch(name)]
        yield from (Path(folder, name) for name in sorted(names))


def text_of(path):
    content = path.read_bytes()
    return "" if b"\0" in content else content.decode("utf-8", "replace")


def lines_matching(pattern, paths):
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(text_of(path).splitlines(), 1)
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


@named([path for path in SOURCES if "contrib" not in path.parts])
def test_frameworks_are_known_to_their_integrations_only(path):
    imported = {(name or "").split(".")[0] for name in imported_modules(path)}
    assert imported & {"django", "django_tasks", "asgiref", "flask"} == set()


def test_no_file_names_a_registry():
    assert lines_matching(REGISTRY, repository_files()) == []


def test_pins_hold_for_any_registry():
    assert lines_matching(re.compile("://"), (ROOT / "constraints").glob("*.txt")) == []


def test_no_file_knows_whose_machine_it_was_written_on():
    assert lines_matching(SOMEWHERE, repository_files()) == []
