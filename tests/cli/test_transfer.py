"""Definitions that leave a store, and come into another one."""

import json

import pytest

CALL = {"call": {"handler": "x"}}
GOOD_AND_BAD = json.dumps(
    [
        {"name": "good", "trigger": {"every": "5m"}, "target": CALL},
        {"name": "new", "trigger": {"every": "soon"}, "target": CALL},
    ]
)
HOOK = ("--url", "https://example.com/hook")


@pytest.fixture
def filled(tickwell):
    tickwell("jobs", "add", "report", "--cron", "0 9 * * 1-5", "--tz", "Europe/Rome", *HOOK)
    tickwell("jobs", "add", "tidy", "--every", "10m", "--call", "tidy", "--attempts", "5")
    tickwell("jobs", "pause", "tidy", "--why", "the disk is full")
    return tickwell


def test_what_is_exported_is_imported_elsewhere(filled, folder, either):
    exported = filled("jobs", "export")
    assert exported.err == "2 jobs.\n"
    assert [sorted(job) for job in exported.json["jobs"]] == [
        ["name", "queue", "target", "trigger"],
        ["name", "pause", "queue", "retry", "state", "target", "trigger"],
    ]
    (folder / "jobs.json").write_text(exported.out)
    other = ("--store", "sqlite:///other.db")
    came = filled("jobs", "import", "jobs.json", *other)
    counted, created = came.err.splitlines()
    assert (came.code, counted) == (0, "2 jobs: 2 added, 0 changed, 0 unchanged.")
    assert created.startswith(f"Created a new store, {folder}/other.db")
    assert filled("jobs", "export", *other).out == exported.out
    again = filled("jobs", "import", "jobs.json", "--json")
    assert again.json == {"added": 0, "changed": 0, "unchanged": 2}


def test_what_is_there_gets_the_definition_of_the_file(filled, folder, either):
    jobs = filled("jobs", "export").json["jobs"]
    del jobs[1]["retry"]
    (folder / "jobs.json").write_text(json.dumps(jobs))
    assert filled("jobs", "import", "jobs.json").err == "2 jobs: 0 added, 1 changed, 1 unchanged.\n"
    shown = filled("jobs", "show", "tidy", "--json").json
    assert ("retry" in shown, shown["version"], shown["state"]) == (False, 2, "paused")


def test_jobs_that_code_declares_stay_with_it(filled, folder):
    (folder / "jobs.py").write_text(
        "from tickwell import Scheduler\n"
        "scheduler = Scheduler(app='shop')\n"
        "@scheduler.job()\n"
        "def mine(): ...\n"
        "import asyncio\n"
        "async def main():\n"
        "    await scheduler.sync()\n"
        "    await scheduler.stop()\n"
        "asyncio.run(main())\n"
    )
    exec(compile((folder / "jobs.py").read_text(), "jobs.py", "exec"), {"__name__": "jobs"})
    exported = filled("jobs", "export")
    assert [job["name"] for job in exported.json["jobs"]] == ["report", "tidy"]
    assert exported.err == "2 jobs; 1 belong to code, callbacks or channels and are skipped.\n"


def test_jobs_of_callbacks_stay_with_them_and_a_tag_makes_none(filled, either):
    filled("jobs", "add", "told", "--every", "5m", "--call", "x", "--tag", "callback")
    filled("callbacks", "add", "https://93.184.215.14/told")
    exported = filled("jobs", "export")
    assert [job["name"] for job in exported.json["jobs"]] == ["report", "tidy", "told"]
    assert exported.err == "3 jobs; 1 belong to code, callbacks or channels and are skipped.\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("7", "file: jobs.json contains no jobs"),
        ("[{]", "file: jobs.json is not JSON"),
        ('[{"name": "new"}]', "new: trigger: is missing"),
        ('[{"trigger": {"every": "5m"}}]', "0: name: the job has no name"),
        (GOOD_AND_BAD, "new: trigger.every: 'soon' is not a duration"),
    ],
)
def test_a_mistake_is_named_and_nothing_is_written(filled, folder, text, message):
    (folder / "jobs.json").write_text(text)
    ended = filled("jobs", "import", "jobs.json")
    assert ended.code == 2
    assert ended.err.startswith(f"tickwell: {message}")
    assert len(filled("jobs", "list").rows) == 2


def test_a_file_of_many_is_not_taken_for_one(filled, folder):
    (folder / "jobs.json").write_text(filled("jobs", "export").out)
    ended = filled("jobs", "add", "--file", "jobs.json")
    assert ended.code == 2
    assert "For several: tickwell jobs import jobs.json" in ended.err


def test_a_paused_job_is_added_paused(filled, folder, either):
    jobs = filled("jobs", "export").json["jobs"]
    (folder / "jobs.json").write_text(json.dumps([jobs[1] | {"pause": {"why": ""}}]))
    filled("jobs", "rm", "tidy", "--yes")
    assert filled("jobs", "import", "jobs.json").err == "1 job: 1 added, 0 changed, 0 unchanged.\n"
    shown = filled("jobs", "show", "tidy", "--json").json
    assert (shown["state"], shown["pause"]["since"]) == ("paused", shown["created_at"])


@pytest.mark.parametrize(
    ("until", "state"), [("2999-01-01T00:00:00.000Z", "paused"), ("2020-01-01T00:00:00Z", "active")]
)
def test_a_pause_keeps_its_end(filled, folder, until, state):
    jobs = filled("jobs", "export").json["jobs"]
    (folder / "jobs.json").write_text(json.dumps([jobs[1] | {"pause": {"until": until}}]))
    filled("jobs", "rm", "tidy", "--yes")
    filled("jobs", "import", "jobs.json")
    assert filled("jobs", "show", "tidy", "--json").json["state"] == state
    again = filled("jobs", "export").json["jobs"][1]
    assert again.get("pause") == ({"why": "", "until": until} if state == "paused" else None)


@pytest.mark.parametrize("pause", [True, {"why": 3}, {"until": 7}])
def test_a_pause_that_is_none_is_refused(filled, folder, pause):
    jobs = filled("jobs", "export").json["jobs"]
    (folder / "jobs.json").write_text(json.dumps([jobs[0] | {"name": "new", "pause": pause}]))
    ended = filled("jobs", "import", "jobs.json")
    assert (ended.code, "new: pause: is no pause" in ended.err) == (2, True), ended.err


def test_an_export_has_masks_which_keep_what_is_stored_and_are_refused_elsewhere(tickwell, folder):
    header = ("--header", "Authorization: Bearer canary")
    assert tickwell("jobs", "add", "hook", "--every", "5m", *HOOK, *header).code == 0
    exported = tickwell("jobs", "export")
    for shown in (exported, tickwell("jobs", "show", "hook"), tickwell("jobs", "list", "--json")):
        assert "canary" not in shown.out
    (folder / "jobs.json").write_text(exported.out.replace('"5m"', '"6m"'))
    changed = tickwell("jobs", "import", "jobs.json", "--json")
    assert changed.json == {"added": 0, "changed": 1, "unchanged": 0}
    refused = tickwell("jobs", "import", "jobs.json", "--store", "sqlite:///other.db")
    assert refused.code != 0
    assert "is masked, and no value is stored for it" in refused.err
    assert "{{secret.name}}" in refused.err


@pytest.mark.parametrize("said", [{"state": "paused"}, {"enabled": False}])
def test_what_is_disabled_in_a_file_does_not_fire(tickwell, folder, either, said):
    job = {"name": "tick", "trigger": {"every": "1m"}, "target": {"call": {"handler": "tick"}}}
    (folder / "one.json").write_text(json.dumps(job | said))
    assert tickwell("jobs", "add", "--file", "one.json", "--json").json["state"] == "paused"
    (folder / "many.json").write_text(json.dumps([job | said | {"name": "tock"}]))
    tickwell("jobs", "import", "many.json")
    shown = tickwell("jobs", "show", "tock", "--json").json
    assert (shown["state"], shown["pause"]["why"]) == ("paused", "added as paused")


def test_an_import_brings_what_is_there_to_the_state_of_the_file(filled, folder):
    jobs = {each["name"]: each for each in filled("jobs", "export").json["jobs"]}
    assert {name: each.get("state") for name, each in jobs.items()}["tidy"] == "paused"
    (folder / "jobs.json").write_text(json.dumps([jobs["tidy"]]))
    filled("jobs", "resume", "tidy")
    done = filled("jobs", "import", "jobs.json", "--json").json
    assert done == {"added": 0, "changed": 1, "unchanged": 0}
    shown = filled("jobs", "show", "tidy", "--json").json
    assert (shown["state"], shown["pause"]["why"]) == ("paused", "the disk is full")
    assert filled("jobs", "import", "jobs.json", "--json").json["unchanged"] == 1
    active = {name: value for name, value in jobs["tidy"].items() if name != "pause"}
    (folder / "jobs.json").write_text(json.dumps([active | {"state": "active"}]))
    assert filled("jobs", "import", "jobs.json", "--json").json["changed"] == 1
    assert filled("jobs", "show", "tidy", "--json").json["state"] == "active"


def test_an_edit_by_a_file_does_not_pause(filled, folder):
    shown = filled("jobs", "show", "tidy", "--json").json
    (folder / "tidy.json").write_text(json.dumps(shown | {"state": "active", "pause": None}))
    ended = filled("jobs", "edit", "tidy", "--file", "tidy.json")
    assert ended.code == 2
    assert "state: cannot be edited. Pause or resume the job" in ended.err
    (folder / "tidy.json").write_text(json.dumps(shown | {"priority": 9}))
    assert filled("jobs", "edit", "tidy", "--file", "tidy.json").code == 0


def test_a_state_that_no_file_can_bring_is_refused(filled, folder):
    job = filled("jobs", "export").json["jobs"][0] | {"state": "finished"}
    (folder / "one.json").write_text(json.dumps(job | {"name": "new"}))
    for command in ("add", "import"):
        file = ["--file"] if command == "add" else []
        ended = filled("jobs", command, *file, "one.json")
        assert ended.code == 2
        assert "no job can be saved as 'finished'" in ended.err
