"""What a service says of its access when it starts."""

import os

import pytest

from tickwell.cli.serving.access_lines import warnings
from tickwell.settings import Settings


@pytest.mark.parametrize(
    ("user", "url", "words"),
    [
        (1000, "http://127.0.0.1:8080", []),
        (1000, "http://[::1]:8080", []),
        (1000, "https://0.0.0.0:8080", []),
        (1000, "http://0.0.0.0:8080", ["plain http"]),
        (1000, "http://[::]:8080", ["plain http"]),
        (0, "http://127.0.0.1:8080", ["runs as root"]),
        (0, "http://10.1.2.3:80", ["runs as root", "plain http"]),
    ],
)
def test_what_should_not_stay_is_warned_of(monkeypatch, user, url, words):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    found = [*warnings(Settings(), url)]
    assert len(found) == len(words)
    for line, part in zip(found, words, strict=True):
        assert line.startswith("WARNING: ")
        assert part in line
