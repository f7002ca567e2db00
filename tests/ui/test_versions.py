"""Versions of a job, what code declares of it, and what attempts left behind."""

from dataclasses import replace

from tests.ui.house import OWNER
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.note import OUTPUT, PROGRESS
from tickwell.domain.policy import HOUR
from tickwell.domain.step import CHECKPOINT, WAIT, Step
from tickwell.ids import trace_id
from tickwell.ports.records import Record
from tickwell.services.access.actor import Role
from tickwell.services.jobs.fire_times import stamped


async def test_neighbours_are_compared_and_an_old_one_is_put_back(house):
    job = await house.add("report", description="first")
    jobs = house.context.operations.jobs
    await jobs.patch(OWNER, job, {"description": "second"})
    browser = await house.login()
    page = await browser.see(f"/jobs/{job}/versions")
    assert '-  "description": "first"' in page.text
    assert '+  "description": "second"' in page.text
    assert "job.patch" in page.text  # who did what
    path = f"/jobs/{job}/versions/1/restore"
    assert path in page.forms
    stale = await browser.post(path, expected="1")
    assert stale.status_code == 412
    answer = await browser.post(path, expected="2")
    assert answer.headers["location"] == f"/jobs/{job}"
    entry = await jobs.get(OWNER, job)
    assert (entry.job.description, entry.job.version) == ("first", 3)
    gone = await browser.post(f"/jobs/{job}/versions/9/restore", expected="3")
    assert gone.status_code == 404


async def test_a_viewer_sees_versions_and_neither_buttons_nor_the_audit_log(house):
    job = await house.add("report")
    await house.context.operations.jobs.patch(OWNER, job, {"description": "second"})
    await house.admin.members.set(OWNER, "ada", Role.VIEWER)
    browser = await house.login("ada")
    page = await browser.see(f"/jobs/{job}/versions")
    assert "Who did what" not in page.text
    assert not any("restore" in form for form in page.forms)
    assert (await browser.post(f"/jobs/{job}/versions/1/restore", expected="2")).status_code == 403


async def test_whether_code_or_an_edit_is_in_force(house):
    job = await house.add("report")
    operations, browser = house.context.operations, await house.login()
    entry = await operations.jobs.get(OWNER, job)
    declared = stamped(replace(entry.job, app="shop"))
    await operations.jobs.context.jobs.edit("default", job, declared)
    assert "the code's definition applies" in (await browser.see(f"/jobs/{job}")).text
    await operations.jobs.patch(OWNER, job, {"description": "mine"})
    assert "the edit applies until the code changes" in (await browser.see(f"/jobs/{job}")).text
    assert "The edit applies" in (await browser.see(f"/jobs/{job}/versions")).text


async def test_logs_trace_request_and_response_of_an_execution(house):
    http = {"url": "http://127.0.0.1:9/hook", "headers": {"Authorization": "Bearer a", "x-b": "c"}}
    job = await house.add("hook", target={"http": http}, retry={"max_attempts": 1})
    result = {"status": 503, "body": "not today", "bytes": 9}
    id = await house.run(job, OutcomeKind.FAILED, error="HTTP 503", result=result)
    note = {"attempt": 1, "lines": ["one line", "another"]}
    record = Record(kind=OUTPUT, project="default", key=f"{id}/00000001", document=note)
    await house.store.put_record(record, house.clock.now())
    text = (await (await house.login()).see(f"/executions/{id}")).text
    for part in ("one line\nanother", trace_id(id), "not today", "503", "x-b", "webhook-id"):
        assert part in text, part
    request = text.split("Request")[1].split("Response")[0]
    assert "Bearer a" not in request
    assert "***" in request


async def test_how_far_a_running_one_is(house):
    job = await house.add("slow")
    id = await house.run(job, None)
    note = {"attempt": 1, "fraction": 0.4, "message": "row 4 of 10", "at": house.clock.now()}
    record = Record(kind=PROGRESS, project="default", key=id, document=note)
    await house.store.put_record(record, house.clock.now())
    page = await (await house.login()).see(f"/executions/{id}")
    assert "40 %: row 4 of 10" in page.text
    assert ("progress", {"max": "1", "value": "0.4", "aria-label": "Progress"}) in page.tags


async def test_what_a_running_one_has_done(house):
    job = await house.add("slow")
    id = await house.run(job, None)
    now = house.clock.now()
    steps = [
        Step(execution=id, attempt=1, name="charge <b>", value={"receipt": "r-1"}, at=now),
        Step(execution=id, attempt=1, name="mail", value=None, at=now),
        Step(execution=id, attempt=1, name=CHECKPOINT, value={"page": 3}, at=now, is_final=False),
    ]
    assert await house.store.write_steps(steps) == []
    text = (await (await house.login()).see(f"/executions/{id}")).text
    for part in (
        "charge <b>",
        '{"receipt": "r-1"}',
        "mail",
        "Checkpoint of attempt 1",
        '"page": 3',
    ):
        assert part in text, part


async def test_what_it_waits_for_is_answered_on_its_page(house):
    job = await house.add("slow")
    id = await house.run(job, None)
    name, asked = f"{WAIT}approval", {"expires_at": house.clock.now() + HOUR}
    step = Step(execution=id, attempt=1, name=name, value=asked, at=1, is_final=False)
    assert await house.store.write_steps([step]) == []
    browser = await house.login()
    page = await browser.see(f"/executions/{id}")
    path = f"/executions/{id}/answer"
    assert path in page.forms
    answer = await browser.post(path, name="approval", answer='{"ok": true}')
    assert answer.headers["location"] == f"/executions/{id}"
    after = await browser.see(f"/executions/{id}")
    assert path not in after.forms
    assert '{"ok": true}' in after.text
    assert "answered by" in after.text
    assert (await browser.post(path, name="approval", answer="1")).status_code == 409
    assert (await browser.post(path, name="approval", answer="{")).status_code == 422
