"""Two tabs act on the same thing: whoever comes second reads a clear sentence, never a fault."""

import asyncio
from urllib.parse import unquote

import pytest

from tests.ui.house import OWNER
from tickwell.domain.execution import OutcomeKind

HOURLY = {"trigger": {"every": "1h"}, "retry": {"max_attempts": 1}}
NONE_LEFT = "No matching dead letters remain; nothing was changed"


async def tabs(house):
    """Two of one person, both on a page."""
    both = [await house.login(), await house.login()]
    for each in both:
        await each.see("/jobs")
    return both


async def sent_by_both(house, path, **fields):
    """The same form from either tab at once; what the one that came late reads."""
    both = await tabs(house)
    answers = await asyncio.gather(*(each.post(path, **fields) for each in both))
    assert max(answer.status_code for answer in answers) < 500
    assert min(answer.status_code for answer in answers) == 303
    late = max(range(2), key=lambda n: answers[n].status_code)
    if answers[late].status_code == 303:
        return unquote(both[late].http.cookies["toast"])
    return both[late].read(answers[late]).text


async def dead_letter(house):
    job = await house.add("frail", **HOURLY)
    return await house.run(job, OutcomeKind.FAILED, error="no route")


async def test_a_revival(house):
    id = await dead_letter(house)
    told = await sent_by_both(house, f"/executions/{id}/revive")
    assert f"Execution '{id}' is queued; only a dead one can be revived." in told


async def test_a_cancellation(house):
    job = await house.add("frail", **HOURLY)
    id = (await house.context.operations.executions.trigger(OWNER, job)).id
    told = await sent_by_both(house, f"/executions/{id}/cancel")
    assert f"Execution '{id}' is cancelled; only a live one can be cancelled." in told


async def told_after(tab, path):
    """What a tab is told of a deed done to all that died of one thing."""
    answer = await tab.post(path, q="No Route")
    assert answer.status_code == 303
    return answer.headers["location"], unquote(tab.http.cookies["toast"])


async def test_the_purge_of_a_group(house):
    await dead_letter(house)
    one, two = await tabs(house)
    assert await told_after(one, "/dead/purge") == ("/dead", "1 purged")
    assert await told_after(two, "/dead/purge") == ("/dead", NONE_LEFT)


async def test_the_revival_of_a_group(house):
    await dead_letter(house)
    one, two = await tabs(house)
    progress, said = await told_after(one, "/dead/revive")
    assert said == "Reviving 1 at 10 per second"
    async with asyncio.timeout(100):
        while "Revived 1 of 1" not in (await one.get(progress)).text:  # noqa: ASYNC110 - a page
            await asyncio.sleep(0.01)
    assert await told_after(two, "/dead/revive") == ("/dead", NONE_LEFT)


async def test_a_pause_is_a_pause_whoever_asked_first(house):
    job = await house.add("frail", **HOURLY)
    assert await sent_by_both(house, f"/jobs/{job}/pause") == "Paused frail"


async def test_a_resumption(house):
    job = await house.add("frail", **HOURLY)
    one, _ = await tabs(house)
    await one.post(f"/jobs/{job}/pause")
    told = await sent_by_both(house, f"/jobs/{job}/resume")
    assert "Job 'frail' is active; only a paused job can be resumed." in told


@pytest.mark.parametrize("deed", ["delete", "trigger", "pause", "resume", "backfill"])
async def test_a_job_that_the_other_tab_deleted(house, deed):
    job = await house.add("frail", **HOURLY)
    one, two = await tabs(house)
    assert (await one.post(f"/jobs/{job}/delete")).status_code == 303
    fields = (
        {"since": "2026-01-01T00:00", "until": "2026-01-01T03:00"} if deed == "backfill" else {}
    )
    answer = await two.post(f"/jobs/{job}/{deed}", **fields)
    assert answer.status_code == 404
    assert f"No job '{job}' in this project." in two.read(answer).text


async def test_settings(house):
    await house.admin.secrets.set(OWNER, "token", "a value")
    ((key, _),) = await house.admin.keys.list(OWNER)
    for path, fields, said in (
        ("/settings/secrets/delete", {"name": "token"}, "No secret 'token' in this project."),
        (f"/settings/keys/{key.id}/revoke", {}, f"No key '{key.id}' in this project."),
    ):
        assert said in await sent_by_both(house, path, **fields)
