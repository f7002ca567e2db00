"""The public surface changes on purpose only."""

import difflib
import importlib

import pytest

from tests.library import surface


def test_the_public_surface_is_the_one_on_record():
    lines = surface.FILE.read_text().splitlines(), surface.described().splitlines()
    changed = "\n".join(difflib.unified_diff(*lines, "on record", "now", lineterm="", n=0))
    if changed:
        pytest.fail(
            f"the public surface has changed:\n{changed}\n"
            "If that is intended, write it down with `.venv/bin/python -m tests.library.surface`,"
            " and tell users in CHANGELOG.md",
            pytrace=False,
        )


@pytest.mark.parametrize("name", [name for name in surface.MODULES if name != "tickwell.errors"])
def test_what_is_exported_exists_once_and_in_order(name):
    module = importlib.import_module(name)
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    assert all(hasattr(module, each) for each in module.__all__)


def test_a_scheduler_shows_only_what_users_need():
    private = {
        "move_to",
        "live_on",
        "operation_context",
        "supervise",
        "engine",
        "handlers",
        "inbox",
        "clock",
    }
    assert not private & set(dir(importlib.import_module("tickwell").Scheduler("memory://")))
