"""Every rule fires and is resolved in virtual time, and is told once."""

from dataclasses import replace
from functools import partial

import pytest

from tests.services.alerts.watch import GONE_AFTER, HOURS, PROJECT
from tests.services.conftest import WORKER
from tickwell.domain.alert import Condition, Rule
from tickwell.domain.backlog import Backlog, BacklogAnswer, FireRange
from tickwell.domain.change import Change, answer_held
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.gate import Overlap
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.planning import Plan
from tickwell.domain.policy import MINUTE
from tickwell.domain.trigger import Every
from tickwell.engine.planning.backlog_gates import BacklogGates
from tickwell.ports.records import ClaimRequest
from tickwell.services.alerts import evaluator, observing
from tickwell.services.alerts.book import begin
from tickwell.services.every_record import every_record
from tickwell.services.jobs.fire_times import GONE
from tickwell.settings import Settings

DIED = OutcomeKind.FAILED
DEAD_LETTERS = Rule(id="dead-letters", condition=Condition.DEAD_LETTERS)


async def test_a_job_that_does_not_succeed_in_time_is_missing_until_it_does(watch):
    told, job = await watch.channel(), await watch.add("report")
    rule = await watch.rule("missing", after=2 * HOURS)
    await watch.end(job)
    await watch.wait(2 * HOURS - 15_000)
    assert await watch.told(told, rule) == []
    await watch.look(2)
    assert await watch.told(told, rule) == [("firing", "report")]
    await watch.end(job)
    await watch.look()
    assert await watch.told(told, rule) == [("firing", "report"), ("resolved", "report")]


async def test_a_job_that_succeeds_in_time_is_never_missing(watch):
    told, job = await watch.channel(), await watch.add("report")
    rule = await watch.rule("missing", after=HOURS)
    for _ in range(5):
        await watch.wait(HOURS - MINUTE)
        await watch.end(job)
    assert await watch.told(told, rule) == []


async def test_a_success_that_the_evaluator_has_not_heard_of_counts(watch):
    told, job = await watch.channel(), await watch.add("report")
    rule = await watch.rule("missing", after=HOURS)
    for _ in range(4):
        await watch.wait(HOURS - MINUTE)
        await watch.end(job, heard=False)
    assert await watch.told(told, rule) == []


async def test_a_job_that_only_fails_is_missing(watch):
    told, job = await watch.channel(), await watch.add("report")
    rule = await watch.rule("missing", after=HOURS)
    await watch.wait(HOURS - 15_000)
    await watch.end(job, DIED)
    await watch.look(2)
    assert await watch.told(told, rule) == [("firing", "report")]
    (message,) = [each for each in await watch.messages(told) if each["data"]["rule"] == rule.id]
    assert message["data"]["alerts"][0]["text"] == "no success for 1h; it never has"
    assert message["data"]["severity"] == "critical"
    assert message["data"]["url"] == "https://jobs.example.com/alerts"


async def test_a_rule_for_one_job_watches_no_other(watch):
    told = await watch.channel()
    mine, _other = await watch.add("mine"), await watch.add("other")
    rule = await watch.rule("missing", mine, after=HOURS)
    await watch.wait(2 * HOURS)
    assert await watch.told(told, rule) == [("firing", "mine")]


async def test_a_job_paused_by_a_person_is_not_missing_and_has_its_time_anew(watch):
    told, job = await watch.channel(), await watch.add("report", Every("10m"))
    rule = await watch.rule("missing", after=HOURS)
    await watch.jobs.pause(PROJECT, [job.id], by="ada")
    await watch.wait(3 * HOURS)
    assert await watch.told(told, rule) == []
    await watch.jobs.resume(PROJECT, [job.id])
    await watch.wait(HOURS - MINUTE)
    assert await watch.told(told, rule) == []
    await watch.wait(12 * MINUTE)
    assert await watch.told(told, rule) == [("firing", "report")]


async def test_a_job_that_its_code_lost_is_missing(watch):
    told, job = await watch.channel(), await watch.add("report")
    rule = await watch.rule("missing", after=HOURS)
    await watch.jobs.pause(PROJECT, [job.id], by="app billing", why=GONE)
    await watch.wait(2 * HOURS)
    assert await watch.told(told, rule) == [("firing", "report")]


async def test_a_deleted_job_is_resolved(watch):
    told, job = await watch.channel(), await watch.add("report")
    rule = await watch.rule("missing", after=HOURS)
    await watch.wait(2 * HOURS)
    await watch.jobs.delete(PROJECT, [job.id])
    await watch.look()
    assert await watch.told(told, rule) == [("firing", "report"), ("resolved", "report")]


async def test_missing_by_a_time_of_day(watch):
    # The clock begins at 10:00 UTC.
    told, job = await watch.channel(), await watch.add("nightly")
    rule = await watch.rule("missing", by="10:30")
    await watch.end(job)
    await watch.wait(24 * HOURS)
    assert await watch.told(told, rule) == []
    await watch.wait(HOURS)
    assert await watch.told(told, rule) == [("firing", "nightly")]


async def test_what_is_due_and_does_not_start_is_late_until_it_does(watch):
    told, job = await watch.channel(), await watch.add("report")
    rule = await watch.rule("late", after=5 * MINUTE)
    await watch.executions.trigger(PROJECT, job.id)
    await watch.wait(5 * MINUTE)
    assert await watch.told(told, rule) == []
    await watch.look()
    assert await watch.told(told, rule) == [("firing", "report")]
    await watch.store.promote(watch.clock.instant, 0, 100)
    await watch.run()
    await watch.wait(5 * MINUTE + 15_000)
    assert await watch.told(told, rule) == [("firing", "report"), ("resolved", "report")]


async def test_a_fire_time_that_no_planner_answers_is_late(watch):
    told = await watch.channel()
    await watch.add("report", Every("1h"))
    rule = await watch.rule("late", after=5 * MINUTE)
    await watch.wait(HOURS + 6 * MINUTE)
    assert await watch.told(told, rule) == [("firing", "report")]


async def test_a_run_that_takes_long_is_slow_while_it_runs(watch):
    told, job = await watch.channel(), await watch.add("report")
    rule = await watch.rule("slow", after=10 * MINUTE)
    await watch.executions.trigger(PROJECT, job.id)
    await watch.store.promote(watch.clock.instant, 0, 100)
    (claim,) = await watch.claim()
    await watch.started(claim)
    await watch.wait(10 * MINUTE)
    assert await watch.told(told, rule) == []
    await watch.look()
    assert await watch.told(told, rule) == [("firing", "report")]


@pytest.mark.parametrize("condition", ["late", "slow"])
async def test_what_is_not_well_stays_so_however_many_others_are_newer(
    watch, monkeypatch, condition
):
    told, job = await watch.channel(), await watch.add("report")
    other = await watch.add("other")
    rule = await watch.rule(condition, after=10 * MINUTE)

    async def request(job):
        await watch.executions.trigger(PROJECT, job.id)
        if condition == "slow":
            await watch.store.promote(watch.clock.instant, 0, 100)
            watch.woken += 1
            for claim in await watch.claim():
                await watch.started(claim)

    await request(job)
    await watch.wait(10 * MINUTE + 15_000)
    assert await watch.told(told, rule) == [("firing", "report")]
    for name in ("MOST_FOUND", "_RUNNING"):
        monkeypatch.setattr(observing, name, 2)
    for _ in range(3):
        await request(other)
    await watch.wait(30 * MINUTE)
    assert await watch.told(told, rule) == [("firing", "report"), ("firing", "other")]


async def test_a_run_that_took_long_is_slow_until_one_is_faster(watch):
    told, job = await watch.channel(), await watch.add("report")
    rule = await watch.rule("slow", after=MINUTE)
    await watch.look()
    await watch.end(job, took=2 * MINUTE)
    await watch.look()
    assert await watch.told(told, rule) == [("firing", "report")]
    await watch.wait(HOURS)
    await watch.end(job, took=1000)
    await watch.wait(5 * MINUTE + 15_000)
    assert await watch.told(told, rule) == [("firing", "report"), ("resolved", "report")]


async def test_a_job_that_dies_so_often_in_a_row_fails(watch):
    told, job = await watch.channel(), await watch.add("report")
    rule = await watch.rule("failing", times=3)
    for kind in (DIED, DIED, OutcomeKind.SUCCEEDED, DIED, DIED):
        await watch.end(job, kind)
        await watch.look()
    assert await watch.told(told, rule) == []
    await watch.end(job, DIED)
    await watch.look()
    assert await watch.told(told, rule) == [("firing", "report")]
    await watch.end(job)
    await watch.wait(5 * MINUTE + 15_000)
    assert await watch.told(told, rule) == [("firing", "report"), ("resolved", "report")]


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (
            'Traceback (most recent call last):\n  File "/a.py", line 7\nValueError: no total',
            "ValueError: no total",
        ),
        ("HTTP 500: down\n\n*payments*: all is well", "HTTP 500: down"),
        ("down\x1b[2J\u202enow, password=hunter2", r"down\x1b[2J\u202enow, password=…"),
    ],
    ids=["traceback", "lines of a target", "control characters"],
)
async def test_a_failing_job_is_reported_with_its_cause_in_one_line(watch, error, cause):
    told, job = await watch.channel(), await watch.add("report")
    await watch.rule("failing", times=1)
    await watch.look()  # from here on the evaluator hears of the project
    await watch.end(job, DIED, error=error)
    await watch.look()
    (message,) = await watch.messages(told)
    (alert,) = message["data"]["alerts"]
    assert alert["text"] == f"died: {cause}"


async def test_a_job_that_fails_every_other_time_does_not_flap(watch):
    told, job = await watch.channel(), await watch.add("report")
    rule = await watch.rule("failing", times=1)
    for _ in range(20):
        await watch.end(job, DIED)
        await watch.look(4)
        await watch.end(job)
        await watch.look(4)
    assert await watch.told(told, rule) == [("firing", "report")]


async def test_a_job_that_is_skipped_so_often_in_a_row(watch):
    told = await watch.channel()
    job = await watch.add("report", Every("10m"), overlap=Overlap.SKIP)
    rule = await watch.rule("skipped", times=2)
    await watch.at(watch.clock.instant + 10 * MINUTE)
    await watch.claim()
    for _ in range(3):  # the first still runs
        await watch.at(watch.clock.instant + 10 * MINUTE)
        await watch.look()
    assert await watch.told(told, rule) == [("firing", "report")]
    assert job.name == "report"


async def test_no_live_planner_while_a_job_is_due(watch):
    told = await watch.channel()
    await watch.add("report", Every("1h"))
    watch.clock.instant += HOURS + GONE_AFTER  # the beats of its process are long ago
    await watch.look(3)
    assert await watch.told(told, "planner") == [("firing", PROJECT)]
    await watch.beat()
    await watch.at(watch.clock.instant)
    await watch.look(6)
    assert await watch.told(told, "planner") == [("firing", PROJECT), ("resolved", PROJECT)]


async def test_no_live_worker_for_work_that_waits(watch):
    told, job = await watch.channel(), await watch.add("report", queue="reports")
    await watch.executions.trigger(PROJECT, job.id)
    await watch.store.promote(watch.clock.instant, 0, 100)
    await watch.look(4)
    assert await watch.told(told, "workers") == [("firing", PROJECT)]
    (message,) = await watch.messages(told)
    assert "no live worker serves queue 'reports'" in message["data"]["alerts"][0]["text"]


async def test_more_than_100_executions_due_and_not_running(watch):
    told, job = await watch.channel(), await watch.add("report")
    for _ in range(101):
        await watch.executions.trigger(PROJECT, job.id)
    await watch.store.promote(watch.clock.instant, 0, 1000)
    await watch.wait(2 * MINUTE + 15_000)
    assert await watch.told(told, "backlog") == [("firing", PROJECT)]


@pytest.mark.parametrize(("dead", "fires"), [(2, True), (1, False)])
async def test_a_failure_rate_above_a_tenth(watch, dead, fires):
    told = await watch.channel()
    for _ in range(16):
        await watch.counted(succeeded=11, dead=dead)
        await watch.look()
    assert await watch.told(told, "failure-rate") == ([("firing", PROJECT)] if fires else [])


async def test_executions_that_died_lately(watch):
    told = await watch.channel()
    await watch.counted(succeeded=1000, dead=1)
    await watch.look()
    assert await watch.told(told, "dead-letters") == [("firing", PROJECT)]
    await watch.wait(17 * MINUTE)
    assert await watch.told(told, "dead-letters") == [("firing", PROJECT), ("resolved", PROJECT)]


async def test_missed_fires_that_are_held_fire_until_they_are_answered(watch):
    told, job = await watch.channel(), await watch.add("report", Every("1m"))
    now = watch.clock.now()
    fires = FireRange(now - 3 * MINUTE, now - MINUTE, 3)
    backlog = Backlog(ranges=(fires,), since=now, until=now + HOURS)
    (entry,) = await watch.store.get_jobs(PROJECT, [job.id])
    held = replace(entry.cursor, backlog=backlog)
    gates = BacklogGates(watch.store, watch.clock, Settings(store="memory://"))
    gates.admit(entry.job, entry.cursor, Plan(held), now)
    await gates.note()
    await watch.look(2)
    assert await watch.told(told, "held") == []
    await watch.store.change_jobs(PROJECT, [job.id], lambda *_: Change(cursor=held), now)
    await watch.look(2)
    assert await watch.told(told, "held") == [("firing", PROJECT)]
    (message,) = [each for each in await watch.messages(told) if each["data"]["rule"] == "held"]
    assert message["data"]["alerts"][0]["text"] == (
        "missed fires held: 3 of 1 jobs; decide: tickwell backlog list"
    )
    answer = answer_held(BacklogAnswer.SKIP)
    await watch.store.change_jobs(PROJECT, [job.id], answer, watch.clock.now())
    await watch.look(2)
    assert await watch.told(told, "held") == [("firing", PROJECT), ("resolved", PROJECT)]


async def test_a_message_about_dead_letters_that_dies_is_no_reason_for_another(watch):
    told = await watch.channel()
    await watch.executions.trigger(PROJECT, told, payload={}, key="alert:dead-letters:1")
    await watch.store.promote(watch.clock.instant, 0, 100)
    await watch.store.beat(WORKER, watch.clock.instant)
    request = ClaimRequest(
        worker=WORKER.id,
        claim_id="c",
        now=watch.clock.instant,
        lead=0,
        limit=1,
        queues=("default",),
        abilities=frozenset({(await watch.jobs.get(PROJECT, told)).job.ability}),
    )
    for claim in await watch.store.claim(request):
        outcome = Outcome(kind=OutcomeKind.FAILED, started_at=watch.clock.instant, error="boom")
        report = decide(claim, outcome, watch.clock.instant)
        dead = replace(report, state=State.DEAD)
        await watch.store.finish([dead], watch.clock.instant)
    await watch.counted(succeeded=1000, dead=1)
    await watch.look()
    assert await watch.history(DEAD_LETTERS) == []
    await watch.counted(succeeded=1000, dead=2)
    await watch.look()
    assert await watch.history(DEAD_LETTERS) == [("firing", 1)]


async def test_channels_are_sent_what_their_filters_let_through(watch):
    mine = await watch.add("mine", tags=("money", "night"), queue="default")
    other = await watch.add("other")
    by_job = await watch.channel(job=mine)
    by_tag = await watch.channel(tags=("money", "day"))
    by_queue = await watch.channel(queues=("default", "mail"))
    elsewhere = await watch.channel(queues=("mail",))
    critical = await watch.channel(severity="critical")
    warning = await watch.channel(severity="warning")
    rule = await watch.rule("failing", times=1)
    await watch.look()
    await watch.end(other, DIED)
    await watch.end(mine, DIED)
    await watch.look()
    for one in (by_job, by_tag):
        assert await watch.told(one) == [("firing", "mine")]
    for all_of_rule in (by_queue, warning):
        assert await watch.told(all_of_rule, rule) == [("firing", "mine", "other")]
    for none in (elsewhere, critical):
        assert await watch.told(none) == []


async def test_who_was_sent_the_start_is_sent_the_end_although_the_tags_changed(watch):
    job = await watch.add("report", tags=("money",))
    told = await watch.channel(tags=("money",))
    rule = await watch.rule("missing", after=HOURS)
    await watch.wait(2 * HOURS)
    entry = await watch.jobs.get(PROJECT, job.id)
    await watch.jobs.edit(PROJECT, job.id, replace(entry.job, tags=()))
    await watch.look()
    await watch.end(job)
    await watch.look()
    assert await watch.told(told, rule) == [("firing", "report"), ("resolved", "report")]


async def test_a_message_says_how_many_alerts_of_its_rule_still_fire(watch):
    told = await watch.channel()
    jobs = [await watch.add(name) for name in ("one", "two")]
    rule = await watch.rule("missing", after=HOURS)
    await watch.wait(2 * HOURS)
    for job in jobs:
        await watch.end(job)
        await watch.look()
    of_rule = [each["data"] for each in await watch.messages(told) if rule.id in str(each)]
    assert [each["firing"] for each in of_rule] == [2, 1, 0]
    links = [each["url"] for each in of_rule[0]["alerts"]]
    assert links == [f"https://jobs.example.com/jobs/{job.id}" for job in jobs]


async def test_a_channel_that_cannot_be_reached_does_not_report_itself(watch):
    told = await watch.channel()
    rule = await watch.rule("late", after=MINUTE)
    job = await watch.add("report")
    await watch.executions.trigger(PROJECT, job.id)
    await watch.wait(10 * MINUTE)  # the channel's own run is due as well, and not sent
    assert await watch.told(told, rule) == [("firing", "report")]


async def test_a_project_beyond_the_first_page_of_them_is_watched(watch, monkeypatch):
    monkeypatch.setattr(evaluator, "every_record", partial(every_record, page=2))
    for project in ("a", "aa", "ab"):
        await begin(watch.store, project, watch.clock.instant)
    told, job = await watch.channel(), await watch.add("report")
    rule = await watch.rule("missing", after=HOURS)
    await watch.end(job)
    await watch.wait(HOURS + 15_000)
    assert await watch.told(told, rule) == [("firing", "report")]
