"""The image, as far as it can be tested without a container engine."""

import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import tomllib

import pytest

from tests.deploy.deployed import BIN, DEPLOY, ROOT

DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
WRAPPER = DEPLOY / "tickwell"


def instructions(name):
    joined = DOCKERFILE.replace("\\\n", " ")
    return re.findall(rf"^{name} +(.+)$", joined, re.MULTILINE)


def test_hadolint_finds_nothing():
    done = subprocess.run(
        [BIN / "hadolint", DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("", 0)


def test_what_is_copied_is_in_the_build_context_and_nothing_else():
    words = [each.split() for each in instructions("COPY") if "--from" not in each]
    copied = {word for each in words for word in each[:-1] if not word.startswith("--")}
    allowed = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    assert copied == set(allowed)
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_it_is_built_from_what_is_pinned():
    installs = [part for run in instructions("RUN") for part in run.split("&&") if "pip" in part]
    downloads = [part for part in installs if " install " in part and "--no-index" not in part]
    assert len(downloads) == 2
    assert all("--require-hashes -r constraints/run.txt" in part for part in downloads)


def test_what_only_builds_the_package_is_not_shipped():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    build = {re.split("[<>=]", each)[0] for each in groups["build"]}
    [removed] = re.findall(r"uninstall --yes +([\w -]+?) +&&", " ".join(instructions("RUN")))
    # trove-classifiers is there for hatchling alone.
    assert set(removed.split()) == build | {"trove-classifiers"}


def test_it_does_not_run_as_root():
    assert instructions("USER") == ["10001:10001"]


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_health_check_fails_when_the_process_is_not_ready(status, code):
    asked = []

    class Ready(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Ready) as server:
        server.timeout = 60  # nothing asked: the assertion says so
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        [check] = re.findall(r"CMD (\[.+\])", " ".join(instructions("HEALTHCHECK")))
        _, *arguments = json.loads(check)
        environment = {"TICKWELL_PORT": str(server.server_port)}
        done = subprocess.run(
            ["/usr/bin/env", "python3", *arguments],
            env=environment | {"PATH": os.environ["PATH"]},
            capture_output=True,
            check=False,
        )
        thread.join()
    assert (done.returncode, asked) == (code, ["/readyz"])


class Wrapped:
    """The command of the image, with a stand-in that prints what it is given."""

    def __init__(self, folder):
        self.secrets = folder / "secrets"
        self.secrets.mkdir()
        self.venv = folder / "venv"
        (self.venv / "bin").mkdir(parents=True)
        program = self.venv / "bin" / "tickwell"
        program.write_text('#!/bin/sh\necho "$*"\nenv | grep ^TICKWELL_ | sort\n')
        program.chmod(0o755)

    def run(self, **environment):
        done = subprocess.run(
            [WRAPPER, "serve", "--role", "api"],
            env={
                "PATH": os.environ["PATH"],
                "CREDENTIALS_DIRECTORY": str(self.secrets),
                "TICKWELL_VENV": str(self.venv),
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        lines = done.stdout.splitlines()
        return done, [line for line in lines if not line.startswith("TICKWELL_VENV=")]


@pytest.fixture
def wrapped(tmp_path):
    return Wrapped(tmp_path)


def test_secrets_in_files_become_variables(wrapped):
    (wrapped.secrets / "TICKWELL_STORE").write_text("postgresql://a:b c@db/x?y='z'\n")
    (wrapped.secrets / "TICKWELL_SECRET_KEYS").write_text("one,two")
    (wrapped.secrets / "postgres_password").write_text("not ours")
    _, lines = wrapped.run()
    assert lines == [
        "serve --role api",
        "TICKWELL_SECRET_KEYS=one,two",
        "TICKWELL_STORE=postgresql://a:b c@db/x?y='z'",
    ]


def test_a_variable_wins_over_its_file(wrapped):
    (wrapped.secrets / "TICKWELL_STORE").write_text("postgresql://file/x")
    _, lines = wrapped.run(TICKWELL_STORE="memory://")
    assert lines == ["serve --role api", "TICKWELL_STORE=memory://"]


def test_a_folder_that_was_named_must_have_secrets(wrapped):
    done, lines = wrapped.run()
    assert (done.returncode, lines) == (2, [])
    assert f"finds no secret in {wrapped.secrets}" in done.stderr


def test_a_folder_that_cannot_be_read_stops_the_start(wrapped, tmp_path):
    # Also for root, who may read everything: `ls` fails, as it does for others.
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "id").symlink_to(shutil.which("id") or "")
    (programs / "ls").symlink_to(shutil.which("false") or "")
    script = tmp_path / "tickwell"
    script.write_text(WRAPPER.read_text("utf-8").replace("/run/secrets", str(wrapped.secrets)))
    done = subprocess.run(
        ["/bin/sh", script, "serve"],
        env={"PATH": str(programs), "TICKWELL_VENV": str(wrapped.venv)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"finds no secret in {wrapped.secrets}" in done.stderr


def test_without_a_folder_the_command_runs_as_it_is(wrapped):
    _, lines = wrapped.run(CREDENTIALS_DIRECTORY="")
    assert lines == ["serve --role api"]


def test_a_file_that_cannot_be_a_variable_is_refused_by_name(wrapped):
    (wrapped.secrets / "TICKWELL_STORE;id").write_text("x")
    done, lines = wrapped.run()
    assert (done.returncode, lines) == (2, [])
    assert "TICKWELL_STORE;id is not named after a variable" in done.stderr


def test_a_secret_that_cannot_be_read_stops_the_start(wrapped, tmp_path):
    # Also for root, who may read everything: `cat` fails.
    (wrapped.secrets / "TICKWELL_STORE").write_text("x")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "id").symlink_to(shutil.which("id") or "")
    (programs / "cat").symlink_to(shutil.which("false") or "")
    done, lines = wrapped.run(PATH=str(programs))
    assert (done.returncode, lines) == (2, [])
    assert "cannot read" in done.stderr
