"""The beat_schedule of a Celery app becomes jobs."""

import sys

import pytest

pytestmark = pytest.mark.usefixtures("any_task")

SHOP = """
from datetime import timedelta
from celery import Celery
from celery.schedules import crontab

app = Celery("shop", broker="memory://", set_as_current=False)
app.conf.timezone = "Europe/Rome"
app.conf.beat_schedule = {
    "report": {
        "task": "shop.report",
        "schedule": crontab(hour=9, minute=0, day_of_week="mon-fri"),
        "args": (1, "a"),
        "kwargs": {"deep": True},
        "options": {"queue": "reports", "priority": 3, "expires": 3600},
    },
    "tidy": {"task": "shop.tidy", "schedule": timedelta(minutes=10)},
}

@app.task(name="shop.hello", shared=False)
def hello(name): ...

@app.on_after_finalize.connect
def more(sender, **_):
    sender.add_periodic_task(30.0, hello.s("you"), name="hello")
"""


@pytest.fixture
def write(folder, monkeypatch):
    """Writes a module into the folder, which no other test has imported or gets."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    names = []

    def write(name, text=SHOP):
        (folder / f"{name}.py").write_text(text)
        names.append(name)
        return f"{name}:app"

    yield write
    for name in names:
        sys.modules.pop(name, None)


def app(schedule, more=""):
    return (
        "from datetime import datetime\nfrom celery import Celery\nfrom celery.schedules import *\n"
        f"app = Celery('shop', broker='memory://', set_as_current=False)\n{more}\n"
        f"app.conf.beat_schedule = {schedule}\n"
    )


def test_the_schedule_of_an_app_becomes_jobs_and_stays_the_same_when_repeated(
    tickwell, write, either
):
    path = write("shop_one")
    came = tickwell("import", "celery-beat", path)
    assert came.err.splitlines()[0] == "3 jobs: 3 added, 0 changed, 0 unchanged."
    assert tickwell("import", "celery-beat", path, "--json").json["unchanged"] == 3
    report = tickwell("jobs", "show", "report", "--json").json
    assert report["trigger"] == {
        "cron": "0 9 * * mon-fri",
        "tz": "Europe/Rome",
        "dialect": "celery",
    }
    assert report["target"] == {
        "celery": {
            "task": "shop.report",
            "args": [1, "a"],
            "kwargs": {"deep": True},
            "queue": "reports",
            "priority": 3,
            "wait": False,
        }
    }
    assert (report["expires"], report["tags"]) == ("1h", ["celery-beat"])
    hello = tickwell("jobs", "show", "hello", "--json").json
    assert hello["target"]["celery"]["args"] == ["you"]
    assert hello["trigger"] == {"every": "30s"}


def test_routes_of_the_app_and_options_of_its_tasks_go_along(tickwell, write):
    more = """
OWN = {"queue": "own", "priority": 7}
app.conf.task_default_queue = "shop"
app.conf.task_routes = {"bills.*": {"queue": "bills"}, "shop.own": OWN}

@app.task(name="shop.own", expires=60, shared=False)
def own(): ...
"""
    schedule = {
        "plain": {"task": "shop.plain", "schedule": 5},
        "routed": {"task": "bills.send", "schedule": 5},
        "own": {"task": "shop.own", "schedule": 5},
        "given": {"task": "shop.own", "schedule": 5, "options": {"queue": "given", "expires": 5}},
    }
    came = tickwell("import", "celery-beat", write("shop_routes", app(schedule, more)))
    assert came.code == 0, came.err
    jobs = {job["name"]: job for job in tickwell("jobs", "export").json["jobs"]}
    queues = {name: job["target"]["celery"]["queue"] for name, job in jobs.items()}
    assert queues == {"plain": "shop", "routed": "bills", "own": "own", "given": "given"}
    assert (jobs["own"]["target"]["celery"]["priority"], jobs["own"]["expires"]) == (7, "1m")
    assert jobs["given"]["expires"] == "5s"


def test_a_changed_entry_changes_its_job(tickwell, write):
    tickwell("import", "celery-beat", write("shop_before"))
    changed = write("shop_after", SHOP.replace("hour=9", "hour=10"))
    came = tickwell("import", "celery-beat", changed, "--wait")
    assert came.err == "3 jobs: 0 added, 3 changed, 0 unchanged.\n"
    report = tickwell("jobs", "show", "report", "--json").json
    assert report["trigger"]["cron"] == "0 10 * * mon-fri"
    assert "wait" not in report["target"]["celery"]
    assert report["overlap"] == "allow"


def test_a_dry_run_lists_both_systems_and_writes_nothing(tickwell, write, store):
    path = write("shop_dry")
    ran = tickwell("import", "celery-beat", path, "--dry-run")
    assert (ran.code, store.exists()) == (0, False)
    reports = [row for row in ran.rows if row[0] == "report"]
    assert len(ran.rows) == 15
    assert [row[2] == row[3] for row in reports] == [True] * 5
    assert {row[4] for row in reports} == {"same"}
    assert reports[0][1].startswith("at 09:00 on Monday to Friday, Europe/Rome")
    assert {row[4] for row in ran.rows if row[0] == "tidy"} == {"differs"}
    assert ran.err.startswith("3 jobs to import; nothing was changed.\n2 jobs will fire at other")
    told = tickwell("import", "celery-beat", path, "--dry-run", "--json").json["entries"]
    assert [(each["job"]["name"], each["same"]) for each in told] == [
        ("hello", False),
        ("report", True),
        ("tidy", False),
    ]
    assert [len(each[system]) for each in told for system in ("celery", "tickwell")] == [5] * 6


def test_what_cannot_be_translated_stops_all_unless_it_is_left_out(tickwell, write, store):
    schedule = """{
        "sun": {"task": "t", "schedule": solar.__new__(solar)},
        "odd": {"task": "t", "schedule": 5, "options": {"countdown": 3, "link": 1}},
        "good": {"task": "t", "schedule": 5},
    }"""
    path = write("shop_sun", app(schedule))
    refused = tickwell("import", "celery-beat", path)
    assert (refused.code, store.exists()) == (2, False)
    assert [line.split(". ")[0] for line in refused.err.splitlines()] == [
        "tickwell: odd: options.countdown: has no counterpart in a job",
        "tickwell: odd: options.link: has no counterpart in a job",
        "tickwell: sun: schedule: solar schedules follow the sun",
    ]
    came = tickwell("import", "celery-beat", path, "--skip", "sun", "--skip", "odd", "--json")
    assert came.json == {"added": 1, "changed": 0, "unchanged": 0}
    wrong = tickwell("import", "celery-beat", path, "--skip", "moon")
    assert wrong.code == 2
    assert "no entry 'moon'. Entries: good, odd, sun" in wrong.err


def test_a_job_that_did_not_come_from_beat_is_left_alone(tickwell, write):
    tickwell("jobs", "add", "tidy", "--every", "1h", "--call", "tidy")
    refused = tickwell("import", "celery-beat", write("shop_taken"))
    assert refused.code == 4
    assert "job 'tidy' exists and was not imported from Celery beat" in refused.err
    assert [row[0] for row in tickwell("jobs", "list").rows] == ["tidy"]


def test_an_entry_that_is_disabled_or_over_is_paused_or_left_out(tickwell, write):
    schedule = """{
        "off": {"task": "t", "schedule": 5, "enabled": False},
        "over": {"task": "t", "schedule": 5, "options": {"expires": datetime(2020, 1, 1)}},
    }"""
    came = tickwell("import", "celery-beat", write("shop_off", app(schedule)))
    assert "1 entry skipped, never due again: over." in came.err
    assert [(row[0], row[1]) for row in tickwell("jobs", "list").rows] == [("off", "paused")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be loaded: ModuleNotFoundError: No module named 'shop_bad"),
        ("import nothing_of_this_name", "ModuleNotFoundError: No module named 'nothing_of_this"),
        ("1 / 0", "cannot be loaded: ZeroDivisionError: division by zero"),
        ("x = 1", "cannot be loaded: "),
        ("app = 5", "is not a Celery app but a int"),
        (app({}), "app 'shop' has no beat_schedule. Name the app that beat runs with"),
        (
            app({}, "app.conf.beat_scheduler = 'redbeat.RedBeatScheduler'"),
            "Its entries are elsewhere: tickwell import redbeat REDIS_URL",
        ),
        (app({"a": {"task": "t"}}), "a: schedule: is missing"),
        (
            app({"a": {"task": "t", "schedule": 5, "when": 1}}),
            "a: when: is not a field of an entry",
        ),
        (app({"a": {"task": "t", "schedule": 5, "args": [{1}]}}), "a: target.celery.args.0: set"),
    ],
)
def test_what_is_no_schedule_is_one_sentence_and_changes_nothing(
    tickwell, write, store, *, text, words, request
):
    name = f"shop_bad_{request.node.callspec.indices['text']}"
    path = f"{name}:app" if text is None else write(name, text)
    refused = tickwell("import", "celery-beat", path)
    assert (refused.code, store.exists()) == (2, False)
    assert words in refused.err
    assert len(refused.err.splitlines()) == 1


def test_tasks_that_may_not_be_sent_are_named_before_anything_is_written(
    tickwell, write, monkeypatch
):
    monkeypatch.setenv("TICKWELL_CELERY_TASKS", "default:shop.hello")
    ended = tickwell("import", "celery-beat", write("shop_rules"))
    assert ended.code == 2
    assert "celery_tasks: project 'default' may not send shop.report, shop.tidy" in ended.err
    rules = "default:shop.hello,default:shop.report,default:shop.tidy"
    assert f'Set TICKWELL_CELERY_TASKS="{rules}"' in ended.err
    monkeypatch.setenv("TICKWELL_CELERY_TASKS", rules)
    came = tickwell("import", "celery-beat", "shop_rules:app")
    assert came.err.splitlines()[0] == "3 jobs: 3 added, 0 changed, 0 unchanged."
