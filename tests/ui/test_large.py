"""What is long on a page: its beginning, and the command that shows the whole."""

from tickwell.domain.execution import OutcomeKind

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
    assert "put it into body.json first" in page.text


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
