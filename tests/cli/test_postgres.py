"""The same commands on a server: the store's URL decides, nothing else."""

import asyncio

import pytest

from tests.cli.world import BAD, make_past
from tests.servers.schemas import empty_now, run, url


@pytest.fixture
def server(tickwell, monkeypatch):
    """By the environment, where a password belongs."""
    empty_now("cli")
    monkeypatch.setenv("TICKWELL_STORE", url("cli"))
    return tickwell


def test_a_life_of_a_job(server, folder):
    assert server("store", "migrate").code == 0
    added = server("jobs", "add", "tick", "--every", "1h", "--call", "x", "--json").json
    assert added["trigger"] == {"every": "1h"}
    assert server("jobs", "edit", "tick", "--every", "2h").code == 0
    assert server("jobs", "pause", "tick", "--why", "moving").code == 0
    assert server("jobs", "resume", "tick").code == 0
    assert len(server("backfill", "tick", "--since", "24h", "--yes", "--json").json["ids"]) == 24
    first = server("executions", "list", "--limit", 10)
    assert len(first.rows) == 10
    rest = server("executions", "list", "--cursor", first.err.split()[-1])
    assert len(rest.rows) == 14
    assert server("jobs", "rm", "tick", "--yes").code == 0
    assert not (folder / "tickwell.db").exists()


def test_whoever_only_looks_makes_nothing(server):
    asyncio.run(run("DROP SCHEMA IF EXISTS cli_empty CASCADE"))
    there = ("--store", url("cli_empty"))
    for command in (["jobs", "list"], ["doctor"]):
        ended = server(*command, *there)
        assert ended.code == 1
        assert "no Tickwell store in postgresql://" in ended.err
    found = "SELECT 1 FROM pg_namespace WHERE nspname = 'cli_empty'"
    assert asyncio.run(run(found)) == []
    assert server("store", "migrate", *there).code == 0
    assert server("jobs", "list", *there).code == 0


def test_dead_letters(server):
    make_past(url("cli"))
    groups = server("dead", "list", "--by-error", "--json").json["items"]
    assert [group["count"] for group in groups] == [BAD - 1, 1]
    assert server("dead", "revive", "--all", "--yes").err == f"Revived {BAD} executions.\n"
    assert "no worker is alive" in server("doctor").out


def test_no_password_is_ever_said(server):
    for arguments in (["store", "migrate"], ["doctor"], ["store", "backup", "x.db"]):
        ended = server(*arguments)
        assert "secret" not in ended.out + ended.err


def test_a_server_that_is_away_is_worth_another_try(tickwell):
    ended = tickwell("jobs", "list", "--store", "postgresql://nobody:secret@127.0.0.1:1/x")
    assert ended.code == 5
    assert "secret" not in ended.err
    assert ended.err.count("\n") == 1
