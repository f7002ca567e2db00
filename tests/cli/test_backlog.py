"""`tickwell backlog`, by a store and by a server."""

import json
import sqlite3
from contextlib import closing

#: 2026-06-15, 10:01 and 11:00 UTC, and a time that never comes.
FIRST, LAST, NEVER = 1_781_517_660_000, 1_781_521_200_000, 4_102_444_800_000


def hold(store, *names):
    """As a planner leaves a job that missed an hour of its fires."""
    held = {"backlog": {"ranges": [[FIRST, LAST, 60]], "since": LAST, "until": NEVER}}
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        for name in names:
            connection.execute(
                "UPDATE cursor SET pause = ? WHERE job = (SELECT key FROM job WHERE name = ?)",
                (json.dumps(held), name),
            )


def test_what_is_held_is_listed_and_answered(tickwell, either, store):
    for name in ("report", "other"):
        tickwell("jobs", "add", name, "--every", "1m", "--call", "x")
    assert tickwell("backlog", "list").err == "No missed fires are held.\n"
    hold(store, "report", "other")
    listed = tickwell("backlog", "list")
    assert "report\t60\t2026-06-15 10:01:00\t2026-06-15 11:00:00\t2100-01-01" in listed.out
    assert listed.err.endswith(
        "Held: 120 runs of 2 jobs.\nAnswer: tickwell backlog answer skip|latest|all\n"
    )
    done = tickwell("backlog", "answer", "latest", "--job", "report")
    assert done.err == "Runs: 1. Skipped: 59. Jobs: 1.\n"
    done = tickwell("backlog", "answer", "all", "--rate", "100", "--all", "--json").json
    assert done == {"jobs": 1, "runs": 60, "skipped": 0, "paused": []}
    assert tickwell("backlog", "list", "--all", "--json").json["items"] == []


def test_a_paused_job_is_named(tickwell, either, store):
    tickwell("jobs", "add", "report", "--every", "1m", "--call", "x")
    hold(store, "report")
    tickwell("jobs", "pause", "report")
    assert "when resumed" in tickwell("backlog", "list").out
    done = tickwell("backlog", "answer", "latest")
    assert "Still held, since the jobs are paused: report." in done.err
    assert tickwell("backlog", "answer", "skip").err == "Runs: 0. Skipped: 60. Jobs: 1.\n"


def test_a_wrong_answer_and_options_that_exclude_each_other_are_refused(tickwell, either):
    tickwell("jobs", "add", "report", "--every", "1m", "--call", "x")
    refused = tickwell("backlog", "answer", "some")
    assert refused.code != 0
    assert "answer" in refused.err
    assert "mutually exclusive" in tickwell("backlog", "answer", "skip", "--all", "--job", "x").err
