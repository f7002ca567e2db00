"""The tests that need no server, on every other Python that is supported and installed."""

import re
import subprocess
import sys
import tomllib

import pytest

from tests.processes.pythons import installed
from tests.processes.start import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
#: As the classifiers have them.
MINORS = [
    int(found[1])
    for each in PROJECT["classifiers"]
    if (found := re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", each))
]
OTHERS = {
    minor: python
    for minor in MINORS
    if minor != sys.version_info[1] and (python := installed(minor))
}


def test_another_python_is_installed():
    """Else this would prove nothing."""
    assert OTHERS, f"install another one of Python 3.{', 3.'.join(map(str, MINORS))}"


@pytest.mark.parametrize("minor", OTHERS)
def test_tests_pass_on(minor, tmp_path):
    environment = tmp_path / "environment"
    subprocess.run([OTHERS[minor], "-m", "venv", environment], check=True)
    python = environment / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    for what in (
        ["--require-hashes", "--requirement", "constraints/dev.txt"],
        ["--no-build-isolation", "--editable", "."],
    ):
        subprocess.run([*pip, *what], cwd=ROOT, check=True)
    pytest_ = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    tests = ["@tests/quick.txt", "tests/client/test_types.py", "tests/docs/test_code.py"]
    done = subprocess.run(
        [*pytest_, "-p", "tests.parallel", "--processes", "3", *tests],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
