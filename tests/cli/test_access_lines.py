"""What a service says of its access when it starts."""

import os

import pytest

from tickwell import Scheduler
from tickwell.cli.serving.access_lines import access_lines, warnings
from tickwell.settings import Settings


@pytest.mark.parametrize(
    ("user", "url", "words"),
    [
        (1000, "http://127.0.0.1:8080", []),
        (1000, "http://[::1]:8080", []),
        (1000, "https://0.0.0.0:8080", []),
        (1000, "http://0.0.0.0:8080", ["plain HTTP"]),
        (1000, "http://[::]:8080", ["plain HTTP"]),
        (0, "http://127.0.0.1:8080", ["runs as root"]),
        (0, "http://10.1.2.3:80", ["runs as root", "plain HTTP"]),
    ],
)
def test_what_should_not_stay_is_warned_of(monkeypatch, user, url, words):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    found = [*warnings(Settings(), url)]
    assert len(found) == len(words)
    for line, part in zip(found, words, strict=True):
        assert line.startswith("WARNING: ")
        assert part in line


@pytest.mark.parametrize(
    ("store", "option"),
    [
        ("sqlite:///tickwell.db", ""),
        ("postgresql://ann@db:5432/jobs", " --store postgresql://ann@db:5432/jobs"),
        ("postgresql://ann:hush@db/jobs", " --store postgresql://ann:PASSWORD@db/jobs"),
        ("mysql://ann@db/jobs?ssl=true&pool=3", " --store 'mysql://ann@db/jobs?ssl=true&pool=3'"),
    ],
)
def test_the_printed_commands_name_the_store_with_its_user(monkeypatch, tmp_path, store, option):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TICKWELL_STORE", raising=False)
    scheduler = Scheduler(store, settings=Settings(auth=True))
    lines = [*access_lines(scheduler, None, "http://127.0.0.1:8080")]
    assert f"  tickwell users link local{option}" in lines
    assert f"  tickwell keys add NAME --role admin{option}" in lines


def test_a_store_of_the_environment_is_not_repeated(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    store = "postgresql://ann:hush@db/jobs"
    monkeypatch.setenv("TICKWELL_STORE", store)
    scheduler = Scheduler(store, settings=Settings(auth=True))
    lines = [*access_lines(scheduler, None, "http://127.0.0.1:8080")]
    assert "To log in, on this machine and with this environment:" in lines
    assert "  tickwell users link local" in lines
