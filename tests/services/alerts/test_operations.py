"""What people see of alerts and do about them."""

from dataclasses import replace

import pytest

from tests.services.alerts.watch import HOURS, PROJECT
from tickwell.domain.alert import ChannelKind, Condition
from tickwell.domain.policy import MINUTE
from tickwell.errors import Forbidden, InvalidInput, NotFound
from tickwell.services.access.actor import Actor, Role, permissions_of
from tickwell.services.alerts.book import MOST_RULES, MOST_SILENCES
from tickwell.services.documents import alert_rule_document
from tickwell.services.operations import OperationContext, Operations
from tickwell.services.operations.alerts import TRIAL_EVERY
from tickwell.services.time import After


class Log:
    """What was noted."""

    def __init__(self):
        self.entries = []

    async def record(self, actor, action, subject, before, after, *, project=None):
        self.entries.append((actor.name, action, before is not None, after is not None))


def actor(role=Role.EDITOR):
    return Actor(name="ada", project=PROJECT, permissions=permissions_of(role))


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def alerts(watch, log):
    operation_context = OperationContext(
        store=watch.store, clock=watch.clock, random=watch.random, wake=watch.wake
    )
    operation_context.auditor = log
    return Operations.over(operation_context).alerts


async def test_a_rule_of_a_job_is_made_and_deleted(watch, alerts, log):
    job = await watch.add("report")
    made = await alerts.create_rule(actor(), Condition.LATE, job="report", after=5 * MINUTE)
    assert (made.job, made.words, made.created_by) == (job.id, "not started after 5m", "ada")
    assert [each for each in await alerts.rules(actor()) if not each.is_built_in] == [made]
    await alerts.delete_rule(actor(), made.id)
    left = await alerts.rules(actor())
    assert all(each.is_built_in for each in left)
    assert {alert_rule_document(each)["created_by"] for each in left} == {None}
    assert log.entries == [
        ("ada", "alert_rule.create", False, True),
        ("ada", "alert_rule.delete", True, False),
    ]


async def test_a_project_is_evaluated_from_its_first_rule_on(watch, alerts):
    await watch.add("report")
    await alerts.create_rule(actor(), Condition.MISSING, after=HOURS)
    await watch.wait(2 * HOURS)
    (active,) = await alerts.list(actor())
    assert (active.alert.name, active.status) == ("report", "firing")
    assert [each["type"] for each in await alerts.history(actor())] == ["firing"]


async def test_what_cannot_be_a_rule_is_refused(alerts):
    with pytest.raises(InvalidInput):
        await alerts.create_rule(actor(), Condition.MISSING)
    with pytest.raises(NotFound):
        await alerts.create_rule(actor(), Condition.MISSING, after=HOURS, job="unknown")
    with pytest.raises(NotFound):
        await alerts.delete_rule(actor(), "unknown")
    with pytest.raises(InvalidInput, match="built-in"):
        await alerts.delete_rule(actor(), "planner")


async def test_rules_and_silences_are_limited(alerts):
    for _ in range(MOST_RULES):
        await alerts.create_rule(actor(), Condition.FAILING, times=3)
    with pytest.raises(InvalidInput, match="at most"):
        await alerts.create_rule(actor(), Condition.FAILING, times=3)
    for _ in range(MOST_SILENCES):
        await alerts.silence(actor(), After(HOURS), why="moving")
    with pytest.raises(InvalidInput, match="at most"):
        await alerts.silence(actor(), After(HOURS), why="moving")


async def test_a_silence_is_shown_with_what_it_hides_and_can_be_ended(watch, alerts, log):
    await watch.add("report")
    await watch.channel()
    rule = await watch.rule("missing", after=HOURS)
    await watch.wait(2 * HOURS)
    made = await alerts.silence(actor(), After(HOURS), why="moving", rule=rule.id, job="report")
    assert await alerts.silences(actor()) == [made]
    mine = [each.status for each in await alerts.list(actor()) if each.rule.id == rule.id]
    assert mine == ["silenced"]
    await alerts.end_silence(actor(), made.id)
    assert await alerts.silences(actor()) == []
    mine = [each.status for each in await alerts.list(actor()) if each.rule.id == rule.id]
    assert mine == ["firing"]
    assert [action for _, action, _, _ in log.entries] == [
        "alert_silence.create",
        "alert_silence.delete",
    ]


async def test_silences_that_make_no_sense_are_refused(watch, alerts):
    with pytest.raises(InvalidInput, match="later than now"):
        await alerts.silence(actor(), watch.clock.instant, why="moving")
    with pytest.raises(NotFound):
        await alerts.silence(actor(), After(HOURS), why="moving", rule="unknown")
    with pytest.raises(NotFound):
        await alerts.end_silence(actor(), "unknown")


async def test_a_test_message_is_sent_to_one_channel_or_to_all(watch, alerts, log):
    assert await alerts.test(actor()) == []
    told = [await watch.channel(), await watch.channel()]
    assert len(await alerts.test(actor())) == 2
    assert [each["type"] for one in told for each in await watch.raw(one)] == ["alert.test"] * 2
    assert len(await alerts.test(actor(), told[0])) == 1
    assert [len(await watch.raw(one)) for one in told] == [1, 1]  # not twice in ten seconds
    watch.clock.instant += TRIAL_EVERY
    assert len(await alerts.test(actor(), told[0])) == 1
    assert [len(await watch.raw(one)) for one in told] == [2, 1]
    assert log.entries[-1] == ("ada", "alert.test", False, False)
    with pytest.raises(NotFound):
        await alerts.test(actor(), "unknown")


@pytest.mark.parametrize("kind", ChannelKind)
async def test_a_preview_is_what_a_channel_of_its_kind_is_sent(watch, alerts, kind):
    id = await watch.channel(kind)
    channel, message = await alerts.preview(actor(), id)
    assert channel.kind is kind
    assert "nightly-report" in str(message)
    assert await watch.raw(id) == []


@pytest.mark.parametrize("role", Role)
async def test_who_may_do_what(watch, alerts, role):
    may = permissions_of(role)
    someone = replace(actor(), permissions=may)
    assert await alerts.list(someone) == []

    async def tried(call):
        try:
            await call
        except Forbidden:
            return False
        return True

    assert await tried(alerts.silence(someone, After(HOURS), why="x")) == ("operate" in may)
    assert await tried(alerts.test(someone)) == ("operate" in may)
    rule = alerts.create_rule(someone, Condition.FAILING, times=1)
    assert await tried(rule) == ("edit" in may)
