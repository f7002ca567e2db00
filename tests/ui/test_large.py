"""What is long on a page: its beginning, and the command that shows the whole."""

import json

from tickwell.domain.execution import OutcomeKind
from tickwell.domain.job import Cursor, Entry, Job
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand

ID = "0197c0de-0000-7000-8000-000000000000"
LARGE = {"rows": [{"id": n, "text": "x" * 60} for n in range(2_000)]}
#: Bytes of the largest page about a job or an execution with such a payload.
HEAVIEST = 80_000


async def test_pages_about_a_large_payload_stay_small(house):
    hook = {"http": {"url": "https://example.com/hook"}}
    job = await house.add("big one", payload=LARGE, target=hook, retry={"max_attempts": 1})
    id = await house.run(job, OutcomeKind.FAILED, error="HTTP 500")
    browser = await house.login()
    for path in (f"/executions/{id}", f"/jobs/{job}"):
        page = await browser.see(path)
        assert len(page.source) < HEAVIEST
        assert "The first 16,384 of" in page.text
        assert "tickwell jobs show 'big one' --json" in page.text
    page = await browser.see(f"/executions/{id}")
    assert "--data-binary @body.json" in page.text
    assert "save it as body.json first" in page.text


async def test_a_large_payload_and_result_of_its_own_are_shown_by_the_execution(house):
    job = await house.add("big")
    id = await house.run(job, result=LARGE)
    page = await (await house.login()).see(f"/executions/{id}")
    assert len(page.source) < HEAVIEST
    assert f"tickwell executions show {id} --json" in page.text


async def test_what_is_short_is_whole(house):
    job = await house.add("small", payload={"customer": 7})
    page = await (await house.login()).see(f"/executions/{await house.run(job)}")
    assert '"customer": 7' in page.text
    assert "The first" not in page.text


async def test_of_many_tags_a_few_are_shown_and_how_many_more(house):
    tags = tuple(f"tag-{number:05}" for number in range(19_000))
    job = Job(id=ID, name="many", trigger=OnDemand(), target=Call("x"), tags=tags)
    # As an earlier version took them.
    await house.store.add_jobs([Entry(job, Cursor())], house.clock.now())
    browser = await house.login()
    page = await browser.see("/jobs")
    assert "tag-00004" in page.text
    assert "tag-00005" not in page.source
    assert "18,995 more" in page.text
    page = await browser.see(f"/jobs/{ID}")
    assert "and 18,950 more" in page.text


async def test_tags_that_are_too_many_are_marked_in_the_editor(house):
    browser = await house.login()
    await browser.get("/jobs/new")
    document = {
        "name": "many",
        "trigger": {"every": "1h"},
        "target": {"call": {"handler": "x"}},
        "tags": [str(number) for number in range(51)],
    }
    answer = await browser.post("/jobs/save", side="document", document=json.dumps(document))
    assert answer.status_code == 422
    assert "a job has 50 tags at most, and this one 51" in answer.text
