"""The units, by systemd's own tools."""

import configparser
import shlex
import shutil
import subprocess

import pytest

from tests.deploy.deployed import DEPLOY, check_variables, parse, seconds

FOLDER = DEPLOY / "systemd"
UNITS = {"tickwell.service": "tickwell.service", "tickwell@.service": "tickwell@worker.service"}
EACH = pytest.mark.parametrize("name", UNITS)
#: In tenths: what systemd calls OK ends at 4.0. A network service cannot be below 1.
EXPOSURE = 15


class Last(dict):
    """Options that a section may repeat: all values, as lines."""

    def __setitem__(self, key, value):
        if isinstance(value, list) and key in self and isinstance(self[key], list):
            self[key].extend(value)
        else:
            super().__setitem__(key, value)


def service(name):
    parser = configparser.RawConfigParser(strict=False, dict_type=Last, comment_prefixes="#")
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string((FOLDER / name).read_text("utf-8"))
    return dict(parser["Service"])


@pytest.fixture
def unit(tmp_path):
    """A copy whose program exists on this machine; by the name of the unit."""

    def copy(name):
        text = (FOLDER / name).read_text("utf-8")
        path = tmp_path / UNITS[name]
        path.write_text(text.replace("/usr/local/bin/tickwell", shutil.which("true") or ""))
        return path

    return copy


def analyze(*arguments):
    return subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, check=False
    )


@EACH
def test_systemd_accepts_the_unit(name, unit):
    done = analyze("verify", "--man=no", unit(name))
    assert (done.returncode, done.stderr) == (0, "")


@EACH
def test_the_unit_is_locked_down(name, unit):
    done = analyze(
        "security", "--offline=true", f"--threshold={EXPOSURE}", "--no-pager", unit(name)
    )
    assert done.returncode == 0, done.stdout


@EACH
def test_the_command_and_the_time_to_stop_are_right(name):
    found = service(name)
    program, *arguments = shlex.split(found["ExecStart"].replace("%i", "worker"))
    assert program == "/usr/local/bin/tickwell"
    parse(arguments)
    drain = check_variables({}).drain_timeout
    assert seconds(found["TimeoutStopSec"]) >= drain + 25


@EACH
def test_credentials_are_named_after_variables(name):
    names = [line.partition(":")[0] for line in service(name)["LoadCredential"].splitlines()]
    assert "TICKWELL_SECRET_KEYS" in names
    check_variables(dict.fromkeys(names, ""))


def test_both_units_are_locked_down_alike():
    one, other = (service(name) for name in UNITS)
    differ = {"ExecStart", "EnvironmentFile", "LoadCredential"}
    assert {key: one[key] for key in one.keys() - differ} == {
        key: other[key] for key in other.keys() - differ
    }


def test_the_user_of_the_units_is_made():
    line = (FOLDER / "tickwell.sysusers").read_text("utf-8").split()
    assert line[:2] == ["u", service("tickwell.service")["User"]]
