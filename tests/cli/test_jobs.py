"""`tickwell jobs`: looking at jobs and changing them."""

import asyncio
import json
from datetime import datetime, timedelta

import pytest

from tickwell import Cron, Scheduler


@pytest.fixture
def stored(tickwell):
    """Three jobs: by cron, by period, on demand."""
    tickwell("jobs", "add", "report", "--cron", "0 9 * * *", "--tz", "Europe/Rome", "--call", "r")
    tickwell("jobs", "add", "tidy", "--every", "10m", "--call", "t", "--tag", "nightly")
    tickwell("jobs", "add", "greet", "--on-demand", "--call", "g", "--queue", "mail")
    return tickwell


@pytest.fixture
def jobs(either, stored):
    """The same by a store and by a server."""
    return stored


def test_an_empty_list_carries_the_command_to_fill_it(tickwell):
    tickwell("store", "migrate")
    ended = tickwell("jobs", "list")
    assert (ended.code, ended.out) == (0, "")
    assert "Add one: tickwell jobs add NAME --cron" in ended.err


def test_a_store_that_is_missing_is_not_made_by_looking(tickwell, store):
    ended = tickwell("jobs", "list")
    assert ended.code == 1
    assert "tickwell.db does not exist; name another --store, or create it" in ended.err
    assert not store.exists()
    assert tickwell("jobs", "list", "--store", "memory://").code == 2


def test_a_pipe_gets_tabs(jobs):
    rows = jobs("jobs", "list").rows
    assert [row[0] for row in rows] == ["greet", "report", "tidy"]
    assert rows[0][1:] == ["active", "", "only on demand", "call g"]
    assert rows[1][3] == "at 09:00 every day, Europe/Rome"
    assert rows[2][2].endswith("Z")


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["ti"], ["tidy"]),
        (["--tag", "nightly"], ["tidy"]),
        (["--queue", "mail"], ["greet"]),
        (["--state", "paused"], []),
        (["--state", "paused", "--state", "active"], ["greet", "report", "tidy"]),
    ],
)
def test_filters(jobs, options, names):
    assert [job["name"] for job in jobs("jobs", "list", *options, "--json").json["items"]] == names


def test_pages(jobs):
    first = jobs("jobs", "list", "--limit", 2)
    assert [row[0] for row in first.rows] == ["greet", "report"]
    cursor = first.err.split()[-1]
    assert [row[0] for row in jobs("jobs", "list", "--cursor", cursor).rows] == ["tidy"]
    assert jobs("jobs", "list", "--cursor", "nonsense").code == 2
    assert jobs("executions", "list", "--cursor", cursor).code == 2


def test_show(jobs):
    shown = dict(row[:2] for row in jobs("jobs", "show", "report").rows)
    assert shown["schedule"] == "at 09:00 every day, Europe/Rome"
    assert shown["next"].endswith("Z")
    document = jobs("jobs", "show", "report", "--json").json
    assert document["trigger"] == {"cron": "0 9 * * *", "tz": "Europe/Rome"}
    assert jobs("jobs", "show", document["id"], "--json").json == document
    missing = jobs("jobs", "show", "nothing")
    assert (missing.code, missing.err) == (
        3,
        "tickwell: no job 'nothing' in this project; see: tickwell jobs list\n",
    )


def test_projects_are_apart(stored):
    misspelt = stored("jobs", "add", "x", "--every", "5m", "--call", "x", "--project", "other")
    assert (misspelt.code, misspelt.err) == (
        3,
        "tickwell: no project 'other'; see: tickwell projects list\n",
    )
    assert stored("jobs", "list", "--project", "other").code == 3
    assert stored("projects", "add", "other").code == 0
    assert stored("jobs", "list", "--project", "other", "--json").json["items"] == []
    assert stored("jobs", "show", "report", "--project", "other").code == 3
    stored("jobs", "add", "x", "--every", "5m", "--call", "x", "--project", "other")
    listed = stored("jobs", "list", "--project", "other", "--json").json["items"]
    assert [job["name"] for job in listed] == ["x"]
    assert stored("jobs", "show", "x").code == 3


def test_pause_and_resume(jobs):
    assert jobs("jobs", "pause", "report", "tidy", "--why", "moving", "--until", "2h").code == 0
    document = jobs("jobs", "show", "report", "--json").json
    assert document["state"] == "paused"
    assert document["pause"]["why"] == "moving"
    assert document["pause"]["until"] is not None
    assert "it is paused" not in jobs("jobs", "next", "report").err
    resumed = jobs("jobs", "resume", "report", "tidy", "--json").json
    assert [each["job"]["state"] for each in resumed["items"]] == ["active", "active"]
    again = jobs("jobs", "resume", "report")
    assert again.code == 4
    assert "only a paused job can be resumed" in again.err


def test_a_user_without_a_name_is_known_by_a_number(stored, monkeypatch):
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 54_321)
    stored("jobs", "pause", "report")
    assert stored("jobs", "show", "report", "--json").json["pause"]["by"] == "local:54321"


def test_a_slip_in_one_name_changes_no_other(jobs):
    assert jobs("jobs", "pause", "report", "tydi").code == 3
    assert jobs("jobs", "show", "report", "--json").json["state"] == "active"


def test_rm_wants_a_word_when_nobody_can_be_asked(jobs):
    refused = jobs("jobs", "rm", "report")
    assert refused.code == 2
    assert "Pass --yes" in refused.err
    assert jobs("jobs", "rm", "report", "--yes").err == "Deleted report.\n"
    assert jobs("jobs", "show", "report").code == 3


def test_edit_by_options(jobs):
    changed = jobs("jobs", "edit", "report", "--cron", "0 10 * * *", "--attempts", 4, "--json").json
    assert changed["job"]["trigger"] == {"cron": "0 10 * * *", "tz": "Europe/Rome"}
    assert (changed["job"]["version"], changed["job"]["retry"]) == (2, {"max_attempts": 4})
    to_every = jobs("jobs", "edit", "report", "--every", "1h", "--json").json
    assert to_every["job"]["trigger"] == {"every": "1h"}
    to_hook = jobs("jobs", "edit", "report", "--url", "https://example.com/", "--json").json
    assert to_hook["job"]["target"] == {"http": {"url": "https://example.com/"}}
    bodied = jobs("jobs", "edit", "report", "--body", '{"a": 1}', "--json").json
    assert bodied["job"]["target"]["http"]["json"] == {"a": 1}
    text = jobs("jobs", "edit", "report", "--body", "hello", "--json").json
    assert text["job"]["target"]["http"]["text"] == "hello"
    assert "json" not in text["job"]["target"]["http"]
    assert jobs("jobs", "edit", "report", "--body", "hello").err == "Nothing changed.\n"


def test_edit_from_a_file_that_is_out_of_date(jobs, folder):
    document = jobs("jobs", "show", "report", "--json").json
    jobs("jobs", "edit", "report", "--priority", 7)
    (folder / "old.json").write_text(json.dumps(document | {"priority": 8}))
    ended = jobs("jobs", "edit", "report", "--file", "old.json")
    assert ended.code == 4
    assert "is at version 2, not 1; read it again" in ended.err
    assert jobs("jobs", "edit", "report", "--file", "old.json", "--version", 2).code == 0
    assert jobs("jobs", "show", "report", "--json").json["priority"] == 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing to change. Give options, or --file"),
        (["--url", "https://10.0.0.1/"], "10.0.0.1 is not a public address"),
        (["--priority", 11], "11 is not between 1 and 10"),
    ],
)
def test_a_bad_edit_changes_nothing(jobs, options, message):
    ended = jobs("jobs", "edit", "report", *options)
    assert ended.code == 2
    assert message in ended.err
    assert jobs("jobs", "show", "report", "--json").json["version"] == 1


def test_skip_and_undo(jobs):
    first, second = jobs("jobs", "next", "tidy", "--count", "2", "--json").json["items"]
    skipped = jobs("jobs", "skip", "tidy", "--at", second, "--why", "moving")
    assert (skipped.code, skipped.err) == (0, f"Skipped tidy at {second}.\n")
    rows = jobs("jobs", "next", "tidy", "--count", "2").rows
    assert rows == [[first, ""], [second, "skipped"]]
    (slot,) = jobs("jobs", "slots", "tidy", "--since", second, "--until", _after(second)).rows
    assert slot[1] == "skipped"
    assert slot[3].startswith("by_person (")
    assert slot[3].endswith("): moving")
    undone = jobs("jobs", "skip", "tidy", "--at", second, "--undo", "--json").json
    assert undone["skipped"] is False
    assert jobs("jobs", "next", "tidy", "--count", "2").rows == [[first], [second]]
    never = jobs("jobs", "skip", "tidy", "--at", _after(second))
    assert never.code == 2
    assert "does not fire at" in never.err
    assert second[:19] in never.err


def _after(instant):
    return (datetime.fromisoformat(instant) + timedelta(seconds=1)).isoformat()


def test_next(jobs):
    rows = jobs("jobs", "next", "report", "--count", 3).rows
    assert len(rows) == 3
    assert all("T09:00:00+0" in local and utc.endswith("Z") for local, utc in rows)
    assert len(jobs("jobs", "next", "tidy", "--json").json["items"]) == 10
    nothing = jobs("jobs", "next", "greet")
    assert nothing.out == ""
    assert "Run it: tickwell jobs trigger greet" in nothing.err


def test_slots(jobs):
    document = jobs("jobs", "slots", "tidy", "--since", "now", "--until", "+1h", "--json").json
    assert [slot["answer"] for slot in document["items"]] == ["upcoming"] * 6
    ended = jobs("jobs", "slots", "tidy", "--since", "now", "--until", "+1h")
    assert len(ended.rows) == 6
    assert ended.err == "6 fire times: 6 upcoming.\n"
    assert jobs("jobs", "slots", "tidy", "--since", "+1h", "--until", "now").code == 2
    assert jobs("jobs", "slots", "tidy", "--since", "yesterday").code == 2


def test_trigger(jobs):
    keyed = ("jobs", "trigger", "greet", "--key", "k", "--payload", '{"a": 1}')
    first = jobs(*keyed)
    assert len(first.out) == 37
    assert "Triggered a run." in first.err
    again = jobs(*keyed)
    assert again.out == first.out
    assert "Not new: the same run is pending." in again.err
    assert "No live worker takes from the queue mail" in jobs(*keyed).err
    later = jobs("jobs", "trigger", "greet", "--at", "10m", "--json").json
    assert (later["state"], later["kind"], later["job_name"]) == ("waiting", "request", "greet")
    assert len(jobs("jobs", "history", "greet").rows) == 2
    assert jobs("jobs", "trigger", "greet", "--at", "2020-01-01").code == 2
    assert len(jobs("jobs", "history", "greet").rows) == 2
    assert jobs("jobs", "trigger", "nothing").code == 3
    assert "Run it now: tickwell jobs trigger tidy" in jobs("jobs", "history", "tidy").err


def declare(store):
    """A program whose code declares a job starts."""
    scheduler = Scheduler(f"sqlite:///{store}", app="shop")

    @scheduler.job(Cron("H 3 * * *", tz="Europe/Rome"), payload={"region": "eu"})
    def clean_up(region: str) -> None:
        raise AssertionError(region)

    async def start():
        await scheduler.sync()
        await scheduler.stop()

    asyncio.run(start())


def test_show_says_whether_the_code_or_an_edit_is_in_force(store, either, tickwell):
    def declared_by():
        return dict(row[:2] for row in tickwell("jobs", "show", "clean_up").rows)["declared by"]

    declare(store)
    assert declared_by() == "shop, in code; the code applies"
    assert tickwell("jobs", "show", "clean_up", "--json").json["edited"] is False
    tickwell("jobs", "edit", "clean_up", "--payload", '{"region": "asia"}')
    edited = "shop, in code; edited; the edit applies until the code changes again"
    assert declared_by() == edited
    assert tickwell("jobs", "show", "clean_up", "--json").json["edited"] is True
    declare(store)  # the code is as it was
    assert declared_by() == edited
    tickwell("jobs", "edit", "clean_up", "--payload", '{"region": "eu"}')
    assert declared_by() == "shop, in code; the code applies"
