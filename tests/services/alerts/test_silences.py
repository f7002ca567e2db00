"""Silences end by themselves, and hide what they are about only."""

from tests.services.alerts.watch import HOURS, PROJECT
from tickwell.domain.alert import ChannelKind
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.policy import MINUTE
from tickwell.services.alerts.book import RULE


async def failing(watch, *names):
    """A rule, and jobs that have just died."""
    rule = await watch.rule("failing", times=1)
    await watch.look()
    jobs = [await watch.add(name) for name in names]
    for job in jobs:
        await watch.end(job, OutcomeKind.FAILED)
    return rule, jobs


async def test_a_silence_holds_notices_back_until_it_ends(watch):
    told = await watch.channel()
    await watch.silence(watch.clock.instant + HOURS)
    rule, _ = await failing(watch, "report")
    await watch.wait(HOURS - 5 * MINUTE)
    assert await watch.told(told, rule) == []
    await watch.wait(6 * MINUTE)
    assert await watch.told(told, rule) == [("firing", "report")]


async def test_a_silence_of_one_job_hides_that_job_alone(watch):
    told = await watch.channel()
    rule, jobs = await failing(watch, "billing", "report")
    await watch.silence(watch.clock.instant + HOURS, job=jobs[0].id)
    await watch.look()
    assert await watch.told(told, rule) == [("firing", "report")]


async def test_a_silence_of_another_rule_hides_nothing(watch):
    told = await watch.channel()
    rule, _ = await failing(watch, "report")
    await watch.silence(watch.clock.instant + HOURS, rule="planner")
    await watch.look()
    assert await watch.told(told, rule) == [("firing", "report")]


async def test_a_rule_that_is_deleted_resolves_what_it_reported(watch):
    told = await watch.channel()
    rule, _ = await failing(watch, "report")
    await watch.look()
    await watch.store.delete_record(RULE, PROJECT, rule.id)
    await watch.look(3)
    assert await watch.told(told, rule) == [("firing", "report"), ("resolved", "report")]


async def test_programs_are_told_of_a_silence_and_chats_are_not(watch):
    program = await watch.channel()
    pager = await watch.channel(ChannelKind.PAGERDUTY)
    chat = await watch.channel(ChannelKind.SLACK)
    rule, jobs = await failing(watch, "billing", "report")
    await watch.look()
    await watch.silence(watch.clock.instant + HOURS, job=jobs[0].id)
    await watch.look()
    await watch.silence(watch.clock.instant + HOURS, rule=rule.id)
    await watch.look()
    of_rule = [each["data"] for each in await watch.messages(program) if rule.id in str(each)]
    assert [(each["firing"], each["silenced"]) for each in of_rule] == [(2, 0), (1, 1), (0, 2)]
    events = [each for each in await watch.raw(pager) if rule.id in str(each)]
    assert {each["event_action"] for each in events[1:]} == {"trigger"}
    assert events[0]["event_action"] == "acknowledge"
    assert len([each for each in await watch.raw(chat) if "died" in str(each)]) == 1
