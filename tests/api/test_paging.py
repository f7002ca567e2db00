"""Cursors are good for their list, in every process."""

import subprocess
import sys

import pytest

from tickwell.api.paging import opened, sealed
from tickwell.errors import InvalidInput
from tickwell.ports.records import JobFilter

SEAL = """
from tickwell.api.paging import sealed
from tickwell.ports.records import JobFilter
print(sealed("abc", "default", JobFilter(search="x")))
"""


def test_a_cursor_is_good_in_another_process():
    made = {
        subprocess.run(
            [sys.executable, "-c", SEAL],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2", "3")
    }
    assert made == {sealed("abc", "default", JobFilter(search="x"))}


@pytest.mark.parametrize(
    "scope", [("other", JobFilter(search="x")), ("default", JobFilter(search="y"))]
)
def test_a_cursor_of_another_list_is_refused(scope):
    with pytest.raises(InvalidInput, match="not one of this list"):
        opened(sealed("abc", "default", JobFilter(search="x")), *scope)
