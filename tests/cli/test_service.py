"""`workers`, `queues`, `doctor`, `store`, `init` and `completion`."""

import ast
import asyncio
import sqlite3
import stat

import pytest

from tests.cli.world import make_past
from tickwell import Scheduler
from tickwell.cli.config.configuration import configure


def levels(ended):
    return {row[1]: row[0] for row in ended.rows}


def test_empty_lists_say_what_to_do(tickwell):
    tickwell("store", "migrate")
    assert tickwell("workers").err == "No processes. Start one: tickwell serve\n"
    assert "Start a worker: tickwell serve" in tickwell("queues", "list").err


def test_workers_and_queues_of_a_scheduler_that_runs(tickwell, folder, either):
    async def look():
        async with Scheduler("sqlite:///tickwell.db"):
            return await asyncio.to_thread(
                lambda: [
                    tickwell(*words, "--json").json["items"]
                    for words in (["workers"], ["queues", "list"])
                ]
            )

    workers, queues = asyncio.run(look())
    assert [(each["state"], each["queues"]) for each in workers] == [("alive", ["default"])]
    assert [(each["name"], each["workers"]) for each in queues] == [("default", 1)]


def test_a_queue_is_paused_and_resumed(tickwell, either):
    tickwell("store", "migrate")
    paused = tickwell("queues", "pause", "mail", "--why", "moving", "--json").json["items"]
    assert [(each["name"], each["pause"]["why"]) for each in paused] == [("mail", "moving")]
    assert tickwell("queues", "list").rows == [["mail", "paused", "0", "", "moving"]]
    assert tickwell("queues", "resume", "mail").err == "Resumed mail.\n"
    again = tickwell("queues", "resume", "mail")
    assert again.code == 4
    assert "only a paused one can be resumed" in again.err


def test_the_doctor_finds_what_needs_a_look(tickwell):
    make_past()
    tickwell("jobs", "add", "tick", "--every", "5m", "--call", "tick")
    ended = tickwell("doctor")
    assert ended.code == 0  # nothing is due yet
    found = levels(ended)
    assert (found["workers"], found["planner"]) == ("amber", "amber")
    assert (found["dead_letters"], found["store"]) == ("amber", "green")
    assert "no worker is alive. Start one: tickwell serve" in ended.out
    assert {each["level"] for each in tickwell("doctor", "--json").json["items"]} == {
        "amber",
        "green",
    }


def test_the_doctor_knows_what_serve_would_refuse(tickwell, monkeypatch):
    tickwell("store", "migrate")
    monkeypatch.setenv("TICKWELL_OIDC", "corp issuer=https://id.example.com client_id=us")
    assert "oidc" not in levels(tickwell("doctor"))
    monkeypatch.setenv("TICKWELL_OIDC", "corp issuer=https://id.example.com")
    assert levels(tickwell("doctor"))["oidc"] == "red"


def test_the_doctor_repairs_what_can_be(tickwell, store):
    tickwell("store", "migrate")
    store.chmod(0o644)
    assert levels(tickwell("doctor"))["file"] == "amber"
    assert levels(tickwell("doctor", "--fix"))["file"] == "green"
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    assert "file" not in levels(tickwell("doctor"))


def test_a_copy_is_whole_and_replaces_nothing(tickwell, folder):
    tickwell("jobs", "add", "tick", "--every", "5m", "--call", "tick")
    writer = sqlite3.connect("tickwell.db")  # a reader that holds the log
    writer.execute("BEGIN")
    writer.execute("SELECT count(*) FROM job").fetchone()
    copied = tickwell("store", "backup", "copy.db", "--json").json
    writer.close()
    assert copied["bytes"] == (folder / "copy.db").stat().st_size
    listed = tickwell("jobs", "list", "--store", "sqlite:///copy.db")
    assert [row[0] for row in listed.rows] == ["tick"]
    (folder / "tickwell.db.key").touch()
    told = tickwell("store", "backup", "second.db").err
    assert "tickwell.db.key has them" in told
    assert told.endswith("looks for them in second.db.key\n")
    again = tickwell("store", "backup", "copy.db")
    assert again.code == 2
    assert "copy.db exists already" in again.err
    assert tickwell("store", "backup", "no/such/copy.db").code == 2
    assert tickwell("store", "backup", "x.db", "--store", "postgresql://h/d").code == 2
    assert tickwell("store", "backup", "x.db", "--store", "sqlite:///missing.db").code == 1
    assert not (folder / "missing.db").exists()
    assert not list(folder.glob("*.part"))


def test_init_writes_what_runs_and_nothing_twice(tickwell, folder):
    ended = tickwell("init", "demo")
    assert ended.code == 0
    assert "tickwell serve --app jobs:scheduler" in ended.err
    code = (folder / "demo" / "jobs.py").read_text()
    ast.parse(code)
    names: dict = {"__name__": "jobs"}
    exec(compile(code, "jobs.py", "exec"), names)
    assert isinstance(names["scheduler"], Scheduler)
    settings = configure(None, {}, folder / "demo")
    assert settings.origins == {"store": "store in tickwell.toml"}
    assert settings.settings.store == "sqlite:///tickwell.db"
    kept_out = (folder / "demo" / ".gitignore").read_text().splitlines()
    assert {"tickwell.db", "tickwell.db.key", ".env"} <= set(kept_out)
    again = tickwell("init", "demo")
    assert again.code == 2
    assert "exists already" in again.err


def test_completion_has_a_script_for_each_shell(tickwell):
    for shell in ("bash", "zsh", "fish"):
        assert "_TICKWELL_COMPLETE" in tickwell("completion", shell).out
    assert tickwell("completion", "tcsh").code == 2


def test_names_of_jobs_are_completed(tickwell, monkeypatch):
    for name in ("report", "repair", "tidy"):
        tickwell("jobs", "add", name, "--every", "5m", "--call", "x")
    monkeypatch.setenv("_TICKWELL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "tickwell jobs show re")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert tickwell().out.split() == ["repair", "report"]
    monkeypatch.setenv("TICKWELL_STORE", "sqlite:///missing.db")
    assert tickwell().out.split() == []


def test_the_version_is_asked_for_in_two_ways(tickwell):
    assert tickwell("--version").out == tickwell("version").out != ""


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["trigger", "x"], "tickwell jobs trigger"),
        (["jobs", "run", "x"], "tickwell jobs trigger"),
        (["jobs", "delete", "x"], "tickwell jobs rm"),
        (["start"], "tickwell serve"),
        (["list"], "tickwell jobs list, tickwell executions list"),
    ],
)
def test_a_command_that_is_elsewhere_is_named(tickwell, monkeypatch, words, meant):
    monkeypatch.setenv("COLUMNS", "200")
    ended = tickwell(*words)
    assert ended.code == 2
    assert f"Did you mean: {meant}" in ended.err


@pytest.mark.parametrize("words", [["--store", "memory://", "jobs", "list"], ["jobs", "--json"]])
def test_an_option_of_all_commands_stands_after_the_command(tickwell, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "200")
    ended = tickwell(*words)
    assert ended.code == 2
    assert "goes after the command: tickwell jobs list --" in ended.err


def test_a_shell_that_completes_is_not_told_where_an_option_stands(tickwell, monkeypatch):
    monkeypatch.setenv("_TICKWELL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "tickwell jobs --json ")
    monkeypatch.setenv("COMP_CWORD", "3")
    ended = tickwell()
    assert ("list" in ended.out.split(), ended.err) == (True, "")


def test_what_is_not_found_comes_with_the_list_to_look_in(tickwell, either):
    tickwell("jobs", "add", "report", "--every", "5m", "--call", "x")
    assert tickwell("jobs", "show", "reprot").err == (
        "tickwell: no job 'reprot' in this project; see: tickwell jobs list\n"
    )
    assert tickwell("executions", "show", "01a1").err.endswith("see: tickwell executions list\n")
