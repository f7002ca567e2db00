"""Promises that the repository makes about itself."""

import ast
import os
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

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


@cache
def parsed(path):
    return ast.parse(path.read_text("utf-8"))


def imported_packages(path):
    """The top-level packages that a file imports."""
    found = set[str]()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    return found


def test_no_file_is_too_long():
    assert sizes.too_long() == {}


def test_nothing_is_left_unfinished():
    assert lines_matching(LEFT_OVER, SOURCES) == []


def test_every_module_says_what_it_is():
    silent = [path for path in SOURCES if ast.get_docstring(parsed(path)) is None]
    assert silent == []


def test_the_public_names_are_the_visible_ones():
    visible = {
        name
        for name in dir(tickwell)
        if not name.startswith("_") and not isinstance(getattr(tickwell, name), ModuleType)
    }
    # `annotations` is what `from __future__ import annotations` leaves behind.
    assert visible - {"annotations"} == {name for name in tickwell.__all__ if name[0] != "_"}


def test_the_domain_needs_the_standard_library_only():
    allowed = sys.stdlib_module_names | {"tickwell"}
    domain = (ROOT / "src/tickwell/domain").rglob("*.py")
    assert {path: more for path in domain if (more := imported_packages(path) - allowed)} == {}


def test_frameworks_are_known_to_their_integrations_only():
    frameworks = {"django", "django_tasks", "asgiref", "flask"}
    others = [path for path in SOURCES if "contrib" not in path.parts]
    assert [path for path in others if imported_packages(path) & frameworks] == []


def test_no_file_names_a_registry():
    assert lines_matching(REGISTRY, repository_files()) == []


def test_pins_hold_for_any_registry():
    assert lines_matching(re.compile("://"), (ROOT / "constraints").glob("*.txt")) == []


def test_no_file_knows_whose_machine_it_was_written_on():
    assert lines_matching(SOMEWHERE, repository_files()) == []
