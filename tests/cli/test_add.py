"""`tickwell jobs add`: by options, from a file, and what it refuses."""

import json

import pytest

WEBHOOK = ("--url", "https://example.com/hook")


def test_a_webhook_by_options(tickwell, either):
    added = tickwell(
        *("jobs", "add", "report", "--cron", "0 9 * * mon-fri", "--tz", "Europe/Rome", *WEBHOOK),
        *("--method", "put", "--header", "X-Team: billing", "--header", "X-Id: {{execution_id}}"),
        *("--body", '{"at": "{{fire_time}}"}', "--timeout", "5s", "--payload", '{"to": 7}'),
        *("--attempts", "5", "--retry-delay", "1m", "--backoff", "fixed", "--queue", "mail"),
        *(
            "--overlap",
            "queue_one",
            "--misfire",
            "skip",
            "--expires",
            "1h",
            "--tag",
            "a",
            "--tag",
            "b",
        ),
        *("--concurrency", "team={{payload.to}}=2", "--max-runs", "3", "--pause-after", "4"),
        *("--until", "2030-01-01", "--jitter", "5s", "--priority", "7", "--description", "x"),
        *("--delivery", "at_most_once", "--auto-remove", "--dedupe-key", "k"),
        *("--sign-with", "{{secret.new}}", "--sign-with", "{{secret.old}}", "--json"),
    ).json
    assert added["trigger"] == {
        "cron": "0 9 * * mon-fri",
        "tz": "Europe/Rome",
        "until": "2029-12-31T23:00:00.000Z",
        "max_runs": 3,
        "jitter": "5s",
    }
    assert added["target"] == {
        "http": {
            "url": "https://example.com/hook",
            "method": "PUT",
            "headers": {"X-Team": "billing", "X-Id": "{{execution_id}}"},
            "json": {"at": "{{fire_time}}"},
            "sign_with": ["{{secret.new}}", "{{secret.old}}"],
            "timeout": "5s",
        }
    }
    assert added["retry"] == {"max_attempts": 5, "backoff": "fixed", "delay": "1m"}
    assert added["concurrency"] == {"key": "team={{payload.to}}", "limit": 2}
    assert (added["payload"], added["tags"], added["priority"]) == ({"to": 7}, ["a", "b"], 7)
    assert (added["overlap"], added["misfire"], added["expires"]) == (
        "queue_one",
        {"policy": "skip"},
        "1h",
    )
    assert (added["auto_remove"], added["dedupe_key"], added["pause_after"]) == (True, "k", 4)
    assert (added["queue"], added["delivery"], added["description"]) == (
        "mail",
        "at_most_once",
        "x",
    )


def test_a_condition(tickwell):
    url = "https://example.com/has-mail"
    added = tickwell("jobs", "add", "x", *CALL, "--only-if", url, "--json").json
    assert added["only_if"] == url
    assert url in tickwell("jobs", "show", "x").out


def test_a_rate_with_its_key(tickwell):
    given = ("--rate", "100/m", "--rate-key", "{payload.to}")
    added = tickwell("jobs", "add", "x", *CALL, *given, "--json").json
    assert (added["rate"], added["rate_key"]) == ("100/1m", "{payload.to}")
    assert "rate" in tickwell("jobs", "show", "x").out


def test_uniqueness_and_debounce(tickwell):
    given = ("--unless", "24h", "--unique-key", "{payload.to}")
    added = tickwell("jobs", "add", "once", *CALL, *given, "--json").json
    assert (added["unless"], added["unique_key"]) == ("1d", "{payload.to}")
    given = ("--debounce", "30s", "--debounce-max", "5m")
    added = tickwell("jobs", "add", "late", *CALL, *given, "--json").json
    assert (added["debounce"], added["debounce_max"]) == ("30s", "5m")
    assert "debounce" in tickwell("jobs", "show", "late").out
    edited = tickwell("jobs", "edit", "late", "--debounce", "10s", "--json").json
    assert edited["job"]["debounce"] == "10s"


def test_a_request_is_told_that_its_run_is_there(tickwell):
    tickwell("jobs", "add", "once", *CALL)
    first = tickwell("jobs", "trigger", "once", "--unless", "pending", "--json").json
    again = tickwell("jobs", "trigger", "once", "--unless", "pending", "--json").json
    assert (first["is_new"], again["is_new"], again["id"]) == (True, False, first["id"])
    said = tickwell("jobs", "trigger", "once", "--unless", "running").err
    assert "Not new: the same run is pending." in said
    assert tickwell("jobs", "trigger", "once", "--json").json["is_new"]


@pytest.mark.parametrize(
    ("options", "trigger"),
    [
        (["--every", "5m"], {"every": "5m"}),
        (["--every", "5m", "--after-finish"], {"every": "5m", "after": "finish"}),
        (["--on-demand"], {"on_demand": True}),
        (
            [
                *("--rrule", "FREQ=MONTHLY;BYDAY=-1FR", "--dtstart", "2026-01-01T16:00"),
                *("--tz", "Europe/Rome"),
            ],
            {
                "rrule": "FREQ=MONTHLY;BYDAY=-1FR",
                "dtstart": "2026-01-01T16:00:00",
                "tz": "Europe/Rome",
            },
        ),
        (["--at", "2030-01-01T09:00:00+01:00"], {"once": "2030-01-01T08:00:00.000Z"}),
        (["--at", "2030-01-01 09:00", "--tz", "Europe/Rome"], {"once": "2030-01-01T08:00:00.000Z"}),
        (
            ["--every", "5m", "--start", "2030-01-01 09:00", "--tz", "Europe/Rome"],
            {"every": "5m", "start": "2030-01-01T08:00:00.000Z"},
        ),
    ],
)
def test_triggers(tickwell, options, trigger):
    added = tickwell("jobs", "add", "x", *options, "--call", "x", "--timeout", "10s", "--json").json
    assert added["trigger"] == trigger
    assert added["target"] == {"call": {"handler": "x"}}
    assert added["timeout"]["hard"] == "10s"


def test_another_rule_begins_where_the_former_one_did(tickwell):
    begin = ("--dtstart", "2026-01-01T16:00", "--tz", "Europe/Rome")
    missing = tickwell("jobs", "add", "x", "--rrule", "FREQ=DAILY", "--call", "x")
    assert (missing.code, "dtstart" in missing.err) == (2, True)
    tickwell("jobs", "add", "x", "--rrule", "FREQ=DAILY", *begin, "--call", "x")
    rule = ("--rrule", "FREQ=WEEKLY;BYDAY=FR")
    trigger = tickwell("jobs", "edit", "x", *rule, "--json").json["job"]["trigger"]
    assert trigger == {
        "rrule": "FREQ=WEEKLY;BYDAY=FR",
        "dtstart": "2026-01-01T16:00:00",
        "tz": "Europe/Rome",
    }


def test_words_go_to_one_place_and_the_id_to_the_other(tickwell):
    added = tickwell("jobs", "add", "x", "--cron", "0 9 13 * fri", "--call", "x")
    assert added.code == 0
    assert len(added.out.strip()) == 36
    assert added.err.startswith("Added x: at 09:00 on day 13 of the month or on Friday")
    assert "Note: day-of-month 13 and day-of-week fri are both set" in added.err


def test_a_file_and_options_that_win_over_it(tickwell, folder, either):
    job = {
        "name": "a",
        "trigger": {"every": "1h"},
        "target": {"call": {"handler": "x"}},
        "expires": "5m",
    }
    (folder / "job.json").write_text(json.dumps(job))
    (folder / "job.toml").write_text(
        'name = "b"\n[trigger]\nevery = "2h"\n[target.call]\nhandler = "x"\n'
    )
    first = tickwell("jobs", "add", "--file", "job.json", "--every", "10m", "--json").json
    assert (first["trigger"], first["expires"]) == ({"every": "10m"}, "5m")
    assert tickwell("jobs", "add", "-f", "job.toml", "--json").json["trigger"] == {"every": "2h"}
    (folder / "again.json").write_text(json.dumps(first))
    again = tickwell("jobs", "add", "c", "-f", "again.json", "--json").json
    assert (again["name"], again["trigger"]) == ("c", first["trigger"])
    assert again["id"] != first["id"]


def test_an_instant_in_toml_needs_no_quotes(tickwell, folder):
    (folder / "job.toml").write_text(
        'name = "a"\ntrigger.once = 2999-01-01T09:00:00Z\ntarget.call.handler = "x"\n'
    )
    added = tickwell("jobs", "add", "-f", "job.toml", "--json").json
    assert added["next_fire_time"] == "2999-01-01T09:00:00.000Z"
    imported = tickwell("jobs", "import", "job.toml")
    assert "1 unchanged" in imported.out + imported.err


CALL = ("--every", "5m", "--call", "x")
HOOK = ("--every", "5m", *WEBHOOK)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["x", "--cron", "* * * * *", "--every", "5m", "--call", "x"],
            "--cron and --every are 2 t",
        ),
        (
            ["x", "--every", "5m", *WEBHOOK, "--call", "x"],
            "--url and --call are 2 targets. Give one",
        ),
        (["x", "--every", "5m", "--url", "https://169.254.169.254/"], "is not a public address"),
        (["x", "--every", "5m", "--url", "http://169.254.169.254/"], "plain http is not allowed"),
        (["x", "--every", "5m", "--url", "http://2130706433/"], "an obfuscated address"),
        (["x", *HOOK, "--header", "X: a\r\nY: b"], "a line break or control character"),
        (["x", *HOOK, "--header", "X\r\n: b"], "is not a header name"),
        (["x", *HOOK, "--header", "X"], "is not NAME: VALUE"),
        (["x", *HOOK, "--body", "{{nonsense}}"], "{{nonsense}} is not a known name"),
        (["x", *HOOK, "--timeout", "-5s"], "'-5s' is not a duration"),
        (["x", *CALL, "--timeout", "-5s"], "'-5s' is not a duration"),
        (["x" * 10_000, *CALL], "characters are needed. Choose a shorter one: it has 10000"),
        (["x", *CALL, "--payload", "@big"], "big has more than 4194304 bytes"),
        (["x", *CALL, "--payload", "@large"], "bytes are more than 1048576"),
        (["x", *CALL, "--payload", "{"], "'{' is not JSON"),
        (["x", *CALL, "--payload", "@missing"], "missing cannot be read"),
        (["x", *CALL, "--concurrency", "a"], "'a' is not KEY=N"),
        (["x", *CALL, "--overlap", "sometimes"], "'sometimes' is not one of skip"),
        (["x", *CALL, "--method", "GET"], "--method belongs to a webhook"),
        (["x", *CALL, "--sign-with", "{{secret.a}}"], "--sign-with belongs to a webhook"),
        (["x", *HOOK, "--sign-with", "swordfish"], "target.http.sign_with"),
        (
            ["x", *CALL, "--tz", "Europe/Rome"],
            "--tz belongs to --cron, --when or --rrule, or to a time in --at",
        ),
        (["x", "--every", "5m", "--call", "os:system"], "'os:system' is an import path"),
        (["x", "--cron", "0 9 30 2 *", "--call", "x"], "trigger.cron"),
        (["x", "--cron", "0 9 * * *", "--tz", "Europe/Room", "--call", "x"], "Europe/Room"),
        (["x", "--at", "2030-01-01 09:00", "--call", "x"], "has no offset from UTC"),
        (["x", "--at", "soon", "--call", "x"], "'soon' is not a time"),
        (
            ["x", "--call", "x"],
            "is missing. Pass --cron, --every, --when, --rrule, --at or --on-demand",
        ),
        (["x", "--every", "5m"], "is missing. Pass --url or --call"),
        ([*CALL], "the job has no name"),
        (["--file", "broken.json"], "broken.json is not JSON"),
        (["--file", "list.json"], "does not contain exactly one job"),
        (["--file", "other.json"], "the document belongs to 'theirs'. Use --project theirs"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_bad_input_is_one_sentence_and_writes_nothing(tickwell, folder, store, arguments, message):
    with (folder / "big").open("wb") as big:
        big.truncate(100_000_000)
    (folder / "large").write_text(json.dumps("x" * 2_000_000))
    (folder / "broken.json").write_text("{")
    (folder / "list.json").write_text("[]")
    other = {"name": "x", "project": "theirs", "trigger": {"every": "5m"}, "target": {"call": {}}}
    (folder / "other.json").write_text(json.dumps(other))
    ended = tickwell("jobs", "add", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("tickwell: ")
    assert message in ended.err
    assert ended.err.count("\n") == 1
    assert not store.exists()


def test_a_moment_that_is_past_is_refused(tickwell, either):
    ended = tickwell("jobs", "add", "x", "--at", "2020-01-01T00:00:00Z", "--call", "x")
    assert ended.code == 2
    assert "is past, by more than the misfire grace of 10s. Choose a later moment" in ended.err
    assert tickwell("jobs", "list", "--json").json["items"] == []


def test_a_name_of_spaces_is_refused(tickwell, either):
    ended = tickwell("jobs", "add", "  ", *CALL)
    assert (ended.code, ended.out) == (2, "")
    assert "Spaces alone are no name" in ended.err


def test_a_name_that_is_taken_is_a_conflict(tickwell, either):
    assert tickwell("jobs", "add", "x", *CALL).code == 0
    ended = tickwell("jobs", "add", "x", "--every", "9m", "--call", "y")
    assert (ended.code, ended.out) == (4, "")
    assert "exists already; edit it, or choose another name" in ended.err
    (only,) = tickwell("jobs", "list", "--json").json["items"]
    assert only["trigger"] == {"every": "5m"}


def test_a_known_dedupe_key_adds_nothing_and_says_so(tickwell, either):
    first = tickwell("jobs", "add", "x", *CALL, "--dedupe-key", "k")
    assert first.err.startswith("Added x")
    again = tickwell("jobs", "add", "y", *CALL, "--dedupe-key", "k")
    assert (again.code, again.out) == (0, first.out)
    assert again.err == (
        "x already has this dedupe key; nothing was added. Change it: tickwell jobs edit x\n"
    )
    assert len(tickwell("jobs", "list").rows) == 1


def test_all_that_the_guard_refuses_is_said_at_once(tickwell, store):
    local = ("x", "--every", "5m", "--url", "http://127.0.0.1:18101/x")
    ended = tickwell("jobs", "add", *local)
    assert (ended.code, ended.out, store.exists()) == (2, "", False)
    assert ended.err == (
        "tickwell: target.http.url: plain http is not allowed here, port 18101 is not allowed here,"
        " 127.0.0.1 is not a public address. Use https, or set allow_http. Add it to allow_ports."
        " Add its network to allow_private if intended."
        " For this machine: --allow-local, here and with serve\n"
    )
    assert tickwell("jobs", "add", *local, "--allow-local").code == 0
    # An edit that leaves the address alone is not asked about it again.
    assert tickwell("jobs", "edit", "x", "--every", "10m").code == 0
    assert tickwell("jobs", "edit", "x", "--url", "http://127.0.0.1:18101/y").code == 2


def test_a_server_decides_itself_where_webhooks_go(tickwell, either):
    ended = tickwell("jobs", "add", "x", *CALL, "--allow-local")
    assert ended.code == (0 if either == "store" else 2)


def test_all_mistakes_are_named_at_once(tickwell, either):
    refused = tickwell(
        *("jobs", "add", "a", "--cron", "61 * * * *", "--url", "ftp://x", "--priority", "50"),
        *("--expires", "300", "--attempts", "0"),
    )
    assert refused.code == 2
    fields = [line.split(": ")[1] for line in refused.err.splitlines()]
    assert fields[0] == "trigger.cron.minute"
    assert sorted(fields[1:]) == ["expires", "priority", "retry.max_attempts", "target.http.url"]
    assert 'Write "300s" for seconds or "300ms" for milliseconds' in refused.err


def test_a_store_that_is_made_is_named(tickwell, folder):
    added = tickwell("jobs", "add", "ping", "--every", "5m", *WEBHOOK)
    first, second = added.err.splitlines()
    assert first.startswith("Added ping")
    assert second.startswith(
        f"Created a new store, {folder}/tickwell.db; no process serves it yet."
    )
    assert f"tickwell serve --store sqlite:///{folder}/tickwell.db" in added.err
    again = tickwell("jobs", "add", "pong", "--every", "5m", *WEBHOOK)
    assert "Created" not in again.err


def test_a_dialect(tickwell, either):
    given = ("jobs", "add", "a", "--cron", "0 0 9 ? * 2-6", "--dialect", "quartz", *WEBHOOK)
    added = tickwell(*given, "--json").json
    assert added["trigger"] == {"cron": "0 0 9 ? * 2-6", "dialect": "quartz"}
    assert tickwell("jobs", "edit", "a", "--cron", "0 0 10 ? * 2-6").code == 0
    edited = tickwell("jobs", "show", "a", "--json").json
    assert edited["trigger"] == {"cron": "0 0 10 ? * 2-6", "dialect": "quartz"}
    words = tickwell("cron", "explain", "0 9 ? * 2-6 *", "--dialect", "aws").out
    assert words.startswith("At 09:00 on Monday to Friday, UTC (read as EventBridge has it).")


def test_a_handler_that_no_live_worker_has_is_noted_and_saved(tickwell, either):
    added = tickwell("jobs", "add", "report", "--every", "1h", "--call", "send_report")
    assert added.code == 0, added.err
    note = "no live worker serves queue 'default'; executions wait until one does"
    assert f"Note: {note}." in added.err
    assert ["note", note] in tickwell("jobs", "show", "report").rows
    assert tickwell("jobs", "show", "report", "--json").json["warnings"] == [note]
    edited = tickwell("jobs", "edit", "report", "--call", "send_other")
    assert f"Note: {note}." in edited.err


def test_a_celery_task_by_options(tickwell, either, any_task):
    added = tickwell(
        *("jobs", "add", "charge", "--on-demand", "--celery", "shop.tasks.charge"),
        *("--args", "[7]", "--kwargs", '{"currency": "EUR"}', "--celery-queue", "billing"),
        *("--timeout", "5s", "--json"),
    ).json
    kwargs = {"currency": "EUR"}
    assert added["target"] == {
        "celery": {"task": "shop.tasks.charge", "args": [7], "kwargs": kwargs, "queue": "billing"}
    }
    assert added["timeout"]["hard"] == "5s"
    assert "celery shop.tasks.charge on billing" in tickwell("jobs", "list").out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--call", "x", "--args", "[]"], "--args belongs to a Celery task. Give --celery"),
        (["--celery", "x", "--method", "PUT"], "--method belongs to a webhook. Give --url"),
        (["--celery", "x", "--call", "y"], "--call and --celery are 2 targets"),
        (["--celery", "x", "--kwargs", "[1]"], "target.celery.kwargs: is not an object"),
        (["--celery", "x", "--args", "{"], "'{' is not JSON. For example --args '[7]'"),
    ],
)
def test_options_of_a_celery_task_that_do_not_fit_are_refused(tickwell, options, says):
    ended = tickwell("jobs", "add", "charge", "--on-demand", *options)
    assert ended.code == 2
    assert says in ended.err


@pytest.mark.parametrize("project", ["default", "shop"])
def test_a_celery_task_needs_a_rule(tickwell, project, monkeypatch):
    """Also where there is a broker: it may be that of the engine."""
    monkeypatch.setenv("TICKWELL_BROKER", "redis://localhost/0")
    job = ("jobs", "add", "charge", "--on-demand", "--celery", "shop.tasks.charge")
    ended = tickwell(*job, "--project", project)
    assert ended.code == 2
    assert f'Add "{project}:shop.tasks.charge" to the setting celery_tasks' in ended.err


def test_a_host_that_is_off_the_list_is_refused(tickwell, monkeypatch):
    monkeypatch.setenv("TICKWELL_ALLOW_HOSTS", "*:*.example.com")
    for host, code in (("a.example.com", 0), ("a.example.net", 2)):
        ended = tickwell("jobs", "add", host, "--every", "5m", "--url", f"https://{host}/")
        assert ended.code == code, ended.err
    assert "project 'default' may not call a.example.net" in ended.err
    assert 'Add "default:a.example.net" to allow_hosts' in ended.err
