"""Secrets, keys, members, users and projects, by a store and by a server."""

import contextlib
import io
import json
import sqlite3
import sys
from pathlib import Path

import pytest

from tickwell.services.secrets.secrets import Secrets


def give(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


@pytest.mark.parametrize(
    ("given", "kept"),
    [("swordfish\r\n", "swordfish"), ("-----BEGIN\nkey\n-----END\n", "-----BEGIN\nkey\n-----END")],
)
def test_a_file_is_a_secret_as_a_whole(tickwell, monkeypatch, given, kept):
    seen, setting = [], Secrets.set

    async def noting(self, actor, name, value, hosts):
        seen.append(value)
        return await setting(self, actor, name, value)

    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    monkeypatch.setattr(Secrets, "set", noting)
    give(monkeypatch, given)
    assert tickwell("secrets", "set", "token").code == 0
    assert seen == [kept]


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
    assert tickwell("secrets", "rm", "token").code == 2  # nobody is asked
    assert tickwell("secrets", "rm", "token", "--yes").code == 0
    assert tickwell("secrets", "rm", "token", "--yes").code == 3
    assert tickwell("secrets", "list").out == ""


def test_alert_rules_and_silences_are_added_listed_and_taken_away(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    assert "No alerts" in tickwell("alerts", "list").err
    assert "No channels" in tickwell("alerts", "test").err
    assert "No alert was reported" in tickwell("alerts", "history").err
    assert "Nothing is silenced" in tickwell("alerts", "silences").err
    done = tickwell("alerts", "add", "missing", "--after", "25h", "--job", "x")
    assert "no success for 1d1h, of x." in done.err
    made = tickwell("alerts", "add", "failing", "--times", "3", "--json").json
    assert (made["words"], made["job_id"]) == ("died 3 times in a row", None)
    assert tickwell("alerts", "add", "failing").code == 2
    assert tickwell("alerts", "add", "broken", "--times", "3").code == 2
    assert [row[1] for row in tickwell("alerts", "rules").rows][-2:] == [
        "no success for 1d1h",
        "died 3 times in a row",
    ]
    quiet = tickwell("alerts", "silence", "--for", "2h", "--why", "moving", "--job", "x", "--json")
    assert (quiet.json["why"], quiet.json["rule"]) == ("moving", None)
    assert tickwell("alerts", "silences").rows[0][-1] == "moving"
    assert tickwell("alerts", "unsilence", quiet.json["id"]).code == 0
    assert tickwell("alerts", "unsilence", quiet.json["id"]).code == 3
    assert tickwell("alerts", "rm", made["id"], "--yes").code == 0
    assert tickwell("alerts", "rm", made["id"], "--yes").code == 3


def test_channels_are_added_tried_previewed_and_taken_away(tickwell, either, monkeypatch):
    def channels(*words):
        return tickwell("alerts", "channels", *words)

    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    assert "No channels" in channels("list").err
    address = "https://93.184.215.14/told"
    made = channels("add", "hook", "--url", address, "--severity", "critical")
    assert made.out.startswith("whsec_")
    assert channels("list").rows == [["hook", "webhook", address, "critical", "all", "all", "all"]]
    give(monkeypatch, "https://93.184.215.14/services/T0/B0/a-long-token-of-a-chat\n")
    made = channels("add", "chat", "--kind", "slack", "--tag", "money", "--json").json
    assert (made["to"], made["signing_key"]) == ("https://93.184.215.14/services/T0/B0/…", None)
    give(monkeypatch, "0123456789abcdef0123456789abcdef\n")
    pager = ("--kind", "pagerduty", "--url", "https://93.184.215.14/v2/enqueue")
    assert "channels test pager" in channels("add", "pager", *pager).err
    mail = channels("add", "mail", "--kind", "email", "--to", "ann@example.com", "--json").json
    assert (mail["to"], mail["signing_key"]) == ("ann@example.com", None)
    assert channels("add", "hook", "--url", address).code == 2
    assert channels("add", "x", "--kind", "fax", "--url", address).code == 2
    shown = channels("preview", "chat").json
    assert "nightly-report" in shown["attachments"][0]["text"]
    (sent,) = channels("test", "hook", "--json").json["executions"]
    assert tickwell("executions", "show", sent, "--json").json["payload"]["type"] == "alert.test"
    assert len(tickwell("alerts", "test", "--json").json["executions"]) == 4
    assert channels("rm", "hook", "--yes").code == 0
    assert channels("rm", "hook", "--yes").code == 3


def test_callbacks_are_added_listed_and_taken_away(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    assert "tickwell callbacks add" in tickwell("callbacks", "list").err
    address = "https://93.184.215.14/told"
    made = tickwell("callbacks", "add", address, "--on", "failed", "--job", "x", "--json").json
    assert (made["url"], made["events"]) == (address, ["failed"])
    assert made["signing_key"].startswith("whsec_")
    usual = tickwell("callbacks", "add", address)
    assert "dead, recovered" in usual.err
    assert usual.out.startswith("whsec_")
    rows = tickwell("callbacks", "list").rows
    assert sorted(row[2:] for row in rows) == [
        ["dead, recovered", "all"],
        ["failed", "x"],
    ]
    assert tickwell("callbacks", "add", address, "--on", "birthdays").code == 2
    assert tickwell("callbacks", "add", address, "--job", "nobody").code == 3
    assert tickwell("callbacks", "rm", made["id"]).code == 2  # nobody is asked
    assert tickwell("callbacks", "rm", made["id"], "--yes").err == f"Deleted {made['id']}.\n"
    assert tickwell("callbacks", "rm", made["id"], "--yes").code == 3


def test_keys_are_shown_once_and_revoked(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    made = tickwell("keys", "add", "robot", "--role", "operator", "--json").json
    assert (made["name"], made["role"]) == ("robot", "operator")
    assert made["key"].startswith("tw_")
    listed = {row[0]: row[1:] for row in tickwell("keys", "list").rows}
    assert listed[made["id"]] == ["robot", "operator", "never", "never"]
    assert made["key"] not in tickwell("keys", "list", "--json").out
    assert tickwell("keys", "add", "x", "--role", "king").code == 2
    assert tickwell("keys", "revoke", made["id"]).code == 2
    assert tickwell("keys", "revoke", made["id"], "--yes").code == 0
    assert tickwell("keys", "revoke", made["id"], "--yes").code == 3


def test_a_key_may_do_less_than_its_role_and_ends(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    less = ("--role", "editor", "--may", "read", "--may", "edit", "--expires", "30d")
    said = tickwell("keys", "add", "robot", *less)
    assert "editor: read, edit. The key is shown only once" in said.err
    (row,) = [row for row in tickwell("keys", "list").rows if row[1] == "robot"]
    (shown,) = [
        each for each in tickwell("keys", "list", "--json").json["items"] if each["id"] == row[0]
    ]
    assert shown["permissions"] == ["edit", "read"]
    assert row[2:] == ["editor: read, edit", "never", shown["expires_at"]]
    for wrong in (["--may", "fly"], ["--may", "edit"], ["--expires", "soon"], ["--expires", "-1d"]):
        assert tickwell("keys", "add", "x", *wrong).code == 2


def test_a_rotated_key_works_on_for_a_while(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    old = tickwell("keys", "add", "robot", "--json").json
    new = tickwell("keys", "rotate", old["id"], "--overlap", "1h", "--json").json
    assert (new["name"], new["role"]) == ("robot", "viewer")
    assert new["key"] != old["key"]
    assert {old["id"], new["id"]} <= {row[0] for row in tickwell("keys", "list").rows}
    wrong = tickwell("keys", "rotate", old["id"], "--overlap", "soon")
    assert wrong.code == 2
    assert "overlap" in wrong.err
    assert tickwell("keys", "rotate", "nobody").code == 3


def test_a_user_becomes_a_member_and_leaves(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    assert "tickwell members set ada ROLE" in tickwell("users", "add", "ada").err
    assert tickwell("users", "add", "ada").code == 4
    assert ["ada", "log in"] in tickwell("users", "list").rows
    assert "tickwell users link ada" in tickwell("members", "set", "ada", "operator").err
    assert tickwell("members", "set", "ada", "editor").err == "ada now has the role editor.\n"
    assert tickwell("members", "set", "ada", "king").code == 2
    assert {"name": "ada", "role": "editor"} in tickwell("members", "list", "--json").json["items"]
    assert tickwell("members", "rm", "ada").code == 2
    assert tickwell("members", "rm", "ada", "--yes").code == 0
    assert "ada" not in tickwell("members", "list").out


def test_limits_of_a_project_are_shown_and_set_one_by_one(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    assert ["running", "no limit"] in tickwell("projects", "limits").rows
    assert ["running", "10"] in tickwell("projects", "limits", "--running", "10").rows
    rows = tickwell("projects", "limits", "--jobs", "5000").rows
    assert ["jobs", "5,000"] in rows
    assert ["running", "10"] in rows
    assert ["running", "no limit"] in tickwell("projects", "limits", "--running", "0").rows


def test_projects_are_listed(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    tickwell("projects", "add", "acme", "--title", "Acme & Co")
    assert ["acme", "Acme & Co"] in tickwell("projects", "list").rows


def test_a_user_and_a_project_are_taken_away(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    tickwell("users", "add", "ada")
    assert tickwell("users", "rm", "ada").code == 2
    assert tickwell("users", "rm", "ada", "--yes").err == "Removed user ada.\n"
    assert "ada" not in tickwell("users", "list").out
    assert tickwell("users", "rm", "ada", "--yes").code == 3
    tickwell("projects", "add", "acme")
    assert tickwell("projects", "rm", "acme").code == 2
    assert tickwell("projects", "rm", "acme", "--yes").err.startswith("Deleted acme.")
    assert "acme" not in tickwell("projects", "list").out


def test_secrets_are_put_under_the_newest_key(tickwell, either, monkeypatch):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    give(monkeypatch, "a long value\n")
    tickwell("secrets", "set", "token")
    assert tickwell("secrets", "rewrap").err == "0 were re-encrypted with the newest server key.\n"


def test_the_audit_log_is_read_page_by_page(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    tickwell("keys", "add", "ci")  # with the first key there is a server key, and a log
    tickwell("jobs", "pause", "x")
    tickwell("jobs", "resume", "x")
    newest = tickwell("audit", "list", "--limit", 2)
    assert [row[2] for row in newest.rows] == ["job.resume", "job.pause"]
    rest = tickwell("audit", "list", "--cursor", newest.err.split()[-1])
    assert "key.create" in [row[2] for row in rest.rows]
    (one,) = tickwell("audit", "list", "--limit", 1, "--json").json["items"]
    assert (one["action"], one["subject"][:4]) == ("job.resume", "job/")
    tickwell("users", "add", "ada")
    assert tickwell("audit", "list", "--platform").rows[0][2:4] == ["user.create", "user/ada"]


def test_the_audit_log_is_checked(tickwell, either, store):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    tickwell("keys", "add", "ci")  # with the first key there is a server key, and a log
    tickwell("jobs", "pause", "x")
    whole = tickwell("audit", "verify")
    assert whole.err.endswith(": no entry is changed, missing or inserted.\n")
    assert tickwell("audit", "verify", "--json").json["head"] == whole.out.strip()
    assert tickwell("audit", "verify", "--platform").code == 0
    with contextlib.closing(sqlite3.connect(store)) as written, written:
        changed = written.execute(
            "UPDATE record SET document = replace(document, 'job.pause', 'job.cause')"
            " WHERE document LIKE '%job.pause%'"
        )
        assert changed.rowcount == 1
    broken = tickwell("audit", "verify")
    assert (broken.code, "nothing is changed" in broken.err) == (1, False)


def test_calendars_are_put_shown_and_deleted(tickwell, either):
    tickwell("jobs", "add", "y", "--every", "5m", "--call", "x")
    done = tickwell(
        *("calendars", "put", "closed", "--date", "2030-12-24"),
        *("--range", "2030-12-28/2030-12-31"),
    )
    assert done.err == "Saved closed, version 1. 0 jobs fire by it from now on.\n"
    document = '{"cron": "0 9 * * *", "exclude": ["closed"]}'
    job = f'{{"name": "x", "trigger": {document}, "target": {{"call": {{"handler": "x"}}}}}}'
    Path("job.json").write_text(job, "utf-8")
    assert tickwell("jobs", "add", "-f", "job.json").code == 0
    again = tickwell("calendars", "put", "closed", "--date", "2030-12-25")
    assert again.err == "Saved closed, version 2. 1 job fires by it from now on.\n"
    assert tickwell("calendars", "show", "closed").out == "2030-12-25\n"
    assert [row[:2] for row in tickwell("calendars", "list").rows] == [["closed", "2"]]
    refused = tickwell("calendars", "rm", "closed", "--yes")
    assert "is used by x" in refused.err
    wrong = tickwell("calendars", "put", "closed", "--range", "2030-12-25")
    assert "is not FROM/TO" in wrong.err
    assert tickwell("jobs", "rm", "x", "--yes").code == 0
    assert tickwell("calendars", "rm", "closed", "--yes").err == "Deleted closed.\n"


def test_calendars_with_a_country_are_renewed(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    nothing = tickwell("calendars", "renew")
    assert nothing.code == 0
    assert nothing.err == "No calendar has a country. Add one: tickwell calendars put NAME …\n"
    tickwell("calendars", "put", "italy", "--country", "IT", "--date", "2030-12-24")
    tickwell("calendars", "put", "bavaria", "--country", "DE", "--subdivision", "BY")
    tickwell("calendars", "put", "closed", "--date", "2030-12-24")
    before = {name: tickwell("calendars", "show", name).out for name in ("italy", "bavaria")}
    one = tickwell("calendars", "renew", "italy")
    assert one.err == "Saved italy, version 2. 0 jobs fire by it from now on.\n"
    every = tickwell("calendars", "renew", "--json").json["items"]
    versions = {each["calendar"]["name"]: each["calendar"]["version"] for each in every}
    assert versions == {"bavaria": 2, "italy": 3}
    assert before == {name: tickwell("calendars", "show", name).out for name in before}


def test_a_calendar_that_cannot_be_renewed_is_named(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    tickwell("calendars", "put", "closed", "--date", "2030-12-24")
    without = tickwell("calendars", "renew", "closed")
    assert (without.code, without.err) == (
        2,
        "tickwell: closed has no country, so it has no public holidays\n",
    )
    unknown = tickwell("calendars", "renew", "clsed")
    assert unknown.code == 3
    assert "no calendar 'clsed' in this project" in unknown.err


def test_the_doctor_warns_of_a_calendar_without_dates_to_come(tickwell, either):
    tickwell("jobs", "add", "y", "--every", "5m", "--call", "x")
    tickwell("calendars", "put", "closed", "--date", "2020-12-24")
    document = '{"cron": "0 9 * * *", "exclude": ["closed"]}'
    job = f'{{"name": "x", "trigger": {document}, "target": {{"call": {{"handler": "x"}}}}}}'
    Path("job.json").write_text(job, "utf-8")
    assert tickwell("jobs", "add", "-f", "job.json").code == 0
    findings = {
        each["check"]: each for each in json.loads(tickwell("doctor", "--json").out)["items"]
    }
    assert findings["calendars"] == {
        "check": "calendars",
        "level": "amber",
        "text": "calendar closed ended on 2020-12-24; jobs that use it fire on later days",
        "remedy": "Save it with new dates: tickwell calendars put closed --date …",
    }


def test_holidays_are_not_renewed_without_the_extra(tickwell, either, monkeypatch):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    tickwell("calendars", "put", "italy", "--country", "IT")
    monkeypatch.setitem(sys.modules, "holidays", None)
    refused = tickwell("calendars", "renew")
    assert refused.code == 2
    assert 'Run pip install "tickwell[holidays]", or give the dates' in refused.err
    assert [row[:2] for row in tickwell("calendars", "list").rows] == [["italy", "1"]]


def test_a_project_is_paused_and_resumed_and_the_doctor_says_so(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    done = tickwell("projects", "pause", "--why", "the move")
    assert done.err == "Paused the project.\nResume: tickwell projects resume\n"
    shown = tickwell("jobs", "show", "x", "--json").json
    assert (shown["state"], shown["pause"]["why"], shown["pause"]["scope"]) == (
        "paused",
        "the move",
        "project",
    )
    findings = json.loads(tickwell("doctor", "--json").out)["items"]
    found = {each["check"]: each for each in findings}
    assert found["paused_project"]["level"] == "amber"
    assert found["paused_project"]["remedy"] == (
        "Resume: tickwell projects resume --project default"
    )
    refused = tickwell("jobs", "resume", "x")
    assert "paused with its project; only resuming that resumes the job" in refused.err
    assert tickwell("projects", "resume").err == "Resumed the project.\n"
    assert tickwell("jobs", "show", "x", "--json").json["state"] == "active"


def test_all_projects_are_paused_until_an_instant(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    done = tickwell("projects", "pause", "--all", "--until", "2h", "--json").json
    assert (done["project"], done["platform"]["scope"]) == (None, "platform")
    assert done["platform"]["until"] is not None
    assert tickwell("jobs", "show", "x", "--json").json["pause"] == done["platform"]
    assert tickwell("projects", "resume", "--all").err == "Resumed all projects.\n"
    assert tickwell("projects", "resume", "--all").code != 0


def test_a_maintenance_window_is_put_listed_ended_and_deleted(tickwell, either):
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    assert "tickwell maintenance put" in tickwell("maintenance", "list").err
    made = tickwell("maintenance", "put", "move", "--for", "2h", "--why", "new disks")
    assert made.err.startswith("Maintenance move is on until ")
    later = ("--from", "1h", "--until", "2h", "--tag", "db", "--queue", "slow", "--json")
    planned = tickwell("maintenance", "put", "later", *later).json
    assert (planned["status"], planned["length"]) == ("planned", "1h")
    assert (planned["tags"], planned["queues"]) == (["db"], ["slow"])
    weekly = ("--cron", "0 2 * * sun", "--tz", "Europe/Rome", "--for", "90m", "--all")
    assert tickwell("maintenance", "put", "weekly", *weekly).err.startswith(
        "Maintenance weekly beg"
    )
    rows = {row[0]: row for row in tickwell("maintenance", "list").rows}
    assert [*rows][:2] == ["move", "later"]
    assert (rows["move"][1], rows["move"][-1]) == ("on", "new disks")
    assert rows["weekly"][4:7] == ["all projects", "any", "any"]
    assert tickwell("maintenance", "put", "wrong").code == 2
    assert tickwell("maintenance", "put", "wrong", "--for", "1h", "--until", "2h").code == 2
    assert tickwell("maintenance", "end", "move").err == "Ended move.\n"
    assert tickwell("maintenance", "end", "move").code != 0
    assert tickwell("maintenance", "rm", "move", "--yes").err == "Deleted move.\n"
    assert tickwell("maintenance", "rm", "weekly", "--yes").code == 3
    assert tickwell("maintenance", "rm", "weekly", "--all", "--yes", "--json").json == {
        "done": True
    }
    assert tickwell("maintenance", "end", "later", "--all").code == 3
