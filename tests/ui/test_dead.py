"""Dead letters that are brought back otherwise than they died: at a rate, with another payload."""

from dataclasses import asdict
from urllib.parse import quote

import pytest

from tests.ui.house import OWNER
from tickwell.domain.execution import OutcomeKind, State
from tickwell.ports.records import ExecutionFilter
from tickwell.services.operations.dead_letters import Revival


@pytest.fixture
async def dead(house):
    """Two that died of one thing, and one of another."""
    job = await house.add("frail", retry={"max_attempts": 1}, payload={"a": 0})
    ids = [await house.run(job, OutcomeKind.FAILED, error=f"no customer {n}") for n in (1, 2)]
    await house.run(job, OutcomeKind.FAILED, error="something else")
    return ids


async def repeated(house):
    """What repeats a dead one, by its id, with the payload that it has."""
    found = await house.store.list_executions(ExecutionFilter(project="default"))
    whole = [await house.store.get_execution("default", each.id) for each in found.items]
    return {each.revived_from: each.payload for each in whole if each.revived_from}


async def begun(house):
    """Wait for what a revival does in the background."""
    for task in [*house.context.operations.dead_letters._tasks]:
        await task


async def test_a_group_is_repeated_with_another_payload(house, dead):
    browser = await house.login()
    group = f"/dead?signature={quote('no customer N')}#revive-all"
    assert group in (await browser.see("/dead")).links
    page = await browser.see(group)
    assert "something else" not in page.text
    fields = {
        found["name"]: found["value"]
        for tag, found in page.tags
        if tag == "input" and found.get("type") == "hidden" and found.get("name")
    }
    answer = await browser.post("/dead/revive", **fields | {"rate": "1000", "payload": '{"a": 7}'})
    await begun(house)
    assert await repeated(house) == {id: {"a": 7} for id in dead}
    page = await browser.see(answer.headers["location"])
    assert "Repeating 2 at 1000 per second" in page.text
    assert "Revived 2 of 2" in page.text


async def test_what_is_not_repeated_is_said_with_the_reason(house, dead):
    browser = await house.login()
    await house.context.operations.jobs.delete(OWNER, "frail")
    await browser.see("/dead")
    answer = await browser.post("/dead/revive", rate="1000", payload="{}")
    await begun(house)
    page = await browser.see(answer.headers["location"])
    assert "Revived 0 of 3; 3 left out" in page.text
    assert "frail: no job 'frail' in this project" in page.text


@pytest.mark.parametrize(("rate", "silent"), [(10.0, 60_100), (0.01, 160_000)])
def test_a_revival_that_rests_long_between_two_is_at_work(rate, silent):
    begun = Revival(id="r", project="p", by="me", rate=rate, matched=9, started_at=0, updated_at=0)
    states = [Revival.of(asdict(begun), now).state for now in (silent, silent + 1)]
    assert states == ["running", "stalled"]


async def test_without_one_each_runs_again_as_it_was(house, dead):
    browser = await house.login()
    await browser.see("/dead")
    await browser.post("/dead/revive", signature="no customer N", rate="1000", payload="  ")
    await begun(house)
    assert await repeated(house) == {}
    states = [(await house.store.get_execution("default", id)).state for id in dead]
    assert State.DEAD not in states


async def test_a_payload_that_is_none_revives_nothing_and_is_given_back(house, dead):
    browser = await house.login()
    await browser.see("/dead")
    answer = await browser.post("/dead/revive", signature="no customer N", payload='{"a": <7>')
    assert answer.status_code == 422
    assert '{"a": <7>' in browser.read(answer).text
    await begun(house)
    assert {(await house.store.get_execution("default", id)).state for id in dead} == {State.DEAD}
