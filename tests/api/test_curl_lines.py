"""The curl lines of healthchecks.io's documentation, as shells run them, against a server."""

import subprocess

import pytest

from tests.api.serving import Serving, kept_in
from tickwell.domain.execution import State
from tickwell.ports.records import ExecutionFilter

LINES = {
    "curl -m 10 --retry 5 $URL": State.SUCCEEDED,
    "true && curl -fsS -m 10 --retry 5 -o /dev/null $URL": State.SUCCEEDED,
    "curl -m 10 --retry 5 --head $URL": State.SUCCEEDED,
    "curl -fsS -m 10 --retry 5 $URL/start": State.RUNNING,
    "curl -fsS -m 10 --retry 5 $URL/fail": State.DEAD,
    "true; curl -fsS -m 10 --retry 5 $URL/$?": State.SUCCEEDED,
    "false; curl -fsS -m 10 --retry 5 -o /dev/null $URL/$?": State.DEAD,
    'm=$(echo "3 files" 2>&1); curl -fsS -m 10 --retry 5 --data-raw "$m" $URL/$?': State.SUCCEEDED,
    "echo log | curl -fsS -m 10 --retry 5 --data-binary @- $URL": State.SUCCEEDED,
    "RID=728b3763-a2b7-4c1d-8bb4-0c5e6a5ff2e5;"
    " curl -fsS $URL/start?rid=$RID; curl -fsS $URL?rid=$RID": State.SUCCEEDED,
}


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    with Serving(kept_in("sqlite", tmp_path_factory.mktemp("store"))) as serving:
        yield serving


def run(line, url):
    done = subprocess.run(
        ["sh", "-c", line],
        check=False,
        env={"URL": url, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("line", LINES)
def test_a_line_works_unchanged(serving, line):
    name = f"job-{list(LINES).index(line)}"
    made = serving.http.post("/monitors", json={"name": name, "every": "1d"}).json()
    run(line, f"{serving.url}/ping/{made['ping_url'].rpartition('/')[2]}")
    where = ExecutionFilter(job_id=made["id"])
    page = serving.call(serving.store.list_executions(where))
    assert [each.state for each in page.items] == [LINES[line]]


def test_a_name_that_is_new_is_added(serving):
    key = serving.http.post("/ping-key").json()["ping_key"]
    url = f"{serving.url}/ping/{key}/database-backup"
    assert run("curl -fsS -m 10 --retry 5 $URL?create=1", url) == "Created"
    assert run("curl -fsS -m 10 --retry 5 $URL/start", url) == "OK"
    shown = serving.http.get("/monitors/database-backup").json()
    assert shown["status"] == "started"
