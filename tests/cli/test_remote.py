"""Commands over a server that asks who one is."""

import socket
from datetime import UTC, datetime

import httpx
import pytest

from tests.cli.world import make_past
from tests.client.served import Served
from tickwell.client import AsyncClient
from tickwell.clock import to_millis
from tickwell.settings import Settings
from tickwell.wiring import weak_links

CALL = ("--every", "5m", "--call", "x")


@pytest.fixture
def served(folder, monkeypatch):
    with Served(f"sqlite:///{folder}/behind.db") as served:
        monkeypatch.setenv("TICKWELL_SERVER", served.url)
        yield served


def test_the_key_says_who_asks(tickwell, served, monkeypatch, store):
    refused = tickwell("jobs", "list")
    assert (refused.code, refused.out) == (6, "")
    assert "TICKWELL_KEY or --api-key" in refused.err
    assert tickwell("jobs", "list", "--api-key", "tw_wrong").code == 6
    assert tickwell("jobs", "list", "--api-key", served.key).code == 0
    monkeypatch.setenv("TICKWELL_KEY", served.key)
    added = tickwell("jobs", "add", "x", *CALL)
    assert added.err.startswith("Added x: every 5 minutes")
    tickwell("jobs", "pause", "x")
    shown = tickwell("jobs", "show", "x", "--json").json
    assert shown["pause"]["by"].startswith("key:")
    assert tickwell("jobs", "show", "x", "--project", "default").code == 0
    assert tickwell("jobs", "list", "--project", "other").code == 3
    assert tickwell("queues", "pause", "default").code == 6
    assert not store.exists()


def test_a_platform_admin_gives_a_project_an_admin_without_being_one(tickwell, served, monkeypatch):
    assert tickwell("projects", "add", "acme", "--store", served.store).code == 0
    with httpx.Client(base_url=f"{served.url}/api/v1", timeout=100) as http:
        csrf = http.post("/session", json={"link": served.link}).json()["csrf"]
        token = http.post("/tokens", headers={"X-CSRF-Token": csrf}).json()["token"]
    monkeypatch.setenv("TICKWELL_KEY", token)
    monkeypatch.setenv("TICKWELL_PROJECT", "acme")
    assert tickwell("jobs", "list").code == 3
    assert tickwell("members", "set", "ada", "viewer").code == 3
    assert tickwell("members", "set", "local", "admin").code == 0
    assert tickwell("members", "set", "ada", "viewer").code == 0
    assert tickwell("members", "list").rows == [["ada", "viewer"], ["local", "admin"]]
    monkeypatch.setenv("TICKWELL_KEY", served.key)
    assert tickwell("members", "set", "eve", "admin").code == 3


def test_a_server_that_is_not_there(tickwell):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        ended = tickwell("jobs", "list", "--server", url)
    assert (ended.code, ended.out) == (5, "")
    assert ended.err.startswith(f"tickwell: {url} cannot be reached: ")
    assert ended.err.count("\n") == 1
    assert tickwell("jobs", "list", "--server", "nonsense").code == 2
    assert tickwell("jobs", "list", "--server", url, "--store", "memory://").code == 2


def test_the_doctor_from_afar(tickwell, served, folder, monkeypatch):
    monkeypatch.setenv("TICKWELL_KEY", served.key)
    make_past(f"sqlite:///{folder}/behind.db")
    tickwell("jobs", "add", "hourly", "--every", "1h", "--call", "x")
    ended = tickwell("doctor")
    assert ended.code == 1
    found = {row[1]: row[0] for row in ended.rows}
    assert (found["dead_letters"], found["workers"]) == ("amber", "amber")
    beside = tickwell("doctor", "--store", f"sqlite:///{folder}/behind.db")
    # Where a server's store is, no key is told.
    assert ["green", "store", "sqlite answers, and its schema is up to date"] in ended.rows
    process, *rest = [row[:2] for row in ended.rows]
    assert process == ["red", "process"]
    assert rest == [row[:2] for row in beside.rows]
    assert "behind.db answers" in beside.out
    assert beside.code == 0
    assert tickwell("doctor", "--fix").code == 2


def test_the_doctor_from_afar_names_weak_links_to_the_platform(tickwell, folder):
    weak = weak_links("mysql://db/d?ssl=false", Settings())
    with (
        Served(f"sqlite:///{folder}/open.db", auth=False) as anyone,
        Served(f"sqlite:///{folder}/keyed.db") as keyed,
    ):
        for served in (anyone, keyed):
            served.context.operations.checkups.context.weak_links = weak
        platform = tickwell("doctor", "--server", anyone.url)
        project = tickwell("doctor", "--server", keyed.url, "--api-key", keyed.key)
    [link] = [row for row in platform.rows if row[1] == "link"]
    assert link[0] == "amber"
    assert "neither encrypted nor verified" in link[2]
    assert not [row for row in project.rows if row[1] == "link"]


def test_a_document_of_another_project_is_refused(tickwell, served, folder, monkeypatch):
    monkeypatch.setenv("TICKWELL_KEY", served.key)
    (folder / "job.json").write_text(
        '{"name": "x", "project": "theirs", "trigger": {"every": "1h"},'
        ' "target": {"call": {"handler": "x"}}}'
    )
    ended = tickwell("jobs", "add", "-f", "job.json")
    assert ended.code == 2
    assert "the document belongs to 'theirs'. Use --project theirs" in ended.err


@pytest.mark.parametrize("name", ["a/b", "..", "50 % ?x=1#y"])
def test_a_job_of_any_name(tickwell, either, name):
    assert tickwell("jobs", "add", name, *CALL).code == 0
    assert tickwell("jobs", "pause", name).err == f"Paused {name}.\n"
    assert tickwell("jobs", "resume", name).code == 0
    assert len(tickwell("jobs", "next", name).rows) == 10
    assert tickwell("jobs", "trigger", name).code == 0
    assert len(tickwell("jobs", "history", name).rows) == 1
    assert tickwell("jobs", "show", "b/a").code == 3
    assert tickwell("jobs", "rm", name, "--yes").code == 0


def test_names_are_completed_from_there(tickwell, served, monkeypatch):
    monkeypatch.setenv("TICKWELL_KEY", served.key)
    tickwell("jobs", "add", "report", *CALL)
    monkeypatch.setenv("_TICKWELL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "tickwell jobs show re")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert tickwell().out.split() == ["report"]


def test_a_delay_counts_from_the_servers_time(tickwell, served, monkeypatch):
    monkeypatch.setenv("TICKWELL_KEY", served.key)
    there = to_millis(datetime(2036, 1, 1, tzinfo=UTC))
    monkeypatch.setattr(AsyncClient, "server_now", lambda _: there)
    tickwell("jobs", "add", "report", *CALL)
    assert tickwell("jobs", "pause", "report", "--until", "2h").code == 0
    shown = tickwell("jobs", "show", "report", "--json").json
    assert shown["pause"]["until"] == "2036-01-01T02:00:00.000Z"
