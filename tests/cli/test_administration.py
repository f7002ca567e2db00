"""Secrets and keys, by a store and by a server."""

import io
import sys


def give(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_secrets_are_set_listed_and_taken_away(tickwell, either, monkeypatch):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    give(monkeypatch, "swordfish\n")
    done = tickwell("secrets", "set", "token")
    assert (done.out, done.err) == ("", "Set token, version 1. Use it: {{secret.token}}\n")
    give(monkeypatch, "marlin!\n")
    assert tickwell("secrets", "set", "token", "--json").json["version"] == 2
    listed = tickwell("secrets", "list")
    assert [row[:2] for row in listed.rows] == [["token", "2"]]
    assert "swordfish" not in listed.out
    give(monkeypatch, "abc")
    assert tickwell("secrets", "set", "short").code == 2
    assert tickwell("secrets", "rm", "token").code == 0
    assert tickwell("secrets", "rm", "token").code == 3
    assert tickwell("secrets", "list").out == ""


def test_keys_are_shown_once_and_revoked(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    made = tickwell("keys", "add", "robot", "--role", "operator", "--json").json
    assert (made["name"], made["role"]) == ("robot", "operator")
    assert made["key"].startswith("tw_")
    listed = {row[0]: row[1:] for row in tickwell("keys", "list").rows}
    assert listed[made["id"]] == ["robot", "operator", "never"]
    assert made["key"] not in tickwell("keys", "list", "--json").out
    assert tickwell("keys", "add", "x", "--role", "king").code == 2
    assert tickwell("keys", "revoke", made["id"]).code == 0
    assert tickwell("keys", "revoke", made["id"]).code == 3
