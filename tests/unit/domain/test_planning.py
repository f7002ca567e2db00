"""Plans: which fire times run, which are skipped, and what is next."""

from dataclasses import dataclass, replace

import pytest

from tickwell.clock import to_datetime
from tickwell.domain import planning
from tickwell.domain.execution import Kind, Reason
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Cursor, Job, JobState, Pause, rank
from tickwell.domain.planning import CHUNK, Plan, first_cursor, new_execution, plan, resumed
from tickwell.domain.policy import DAY, HOUR, MINUTE, SECOND, Misfire, OnMisfire
from tickwell.domain.target import Call
from tickwell.domain.trigger import Cron, Every, Once, OnDemand, Trigger, Window
from tickwell.domain.trigger.duration import Millis
from tickwell.ids import execution_id

#: 15 June 2026, 10:00 UTC.
TEN = 1_781_517_600_000
YEAR = 365 * DAY


def make_job(trigger, **fields):
    return Job(id="job", name="report", trigger=trigger, target=Call("report"), **fields)


def every_minute(**fields):
    return make_job(Every("1m"), **fields)


def fires(planned):
    return [new.fire_time for new in planned.executions]


def skips(planned):
    return [(skip.first, skip.last, skip.count, skip.reason) for skip in planned.skips]


@dataclass(frozen=True, slots=True)
class Counted(Trigger):
    """Every second, and counts how often it is asked."""

    asked: list

    def _nominal(self, instant):
        self.asked.append(instant)
        return instant - instant % SECOND + SECOND

    def _rule_in_words(self):
        return "every second"


class TestOnTime:
    def test_what_comes_within_the_horizon_is_planned_ahead(self):
        job = every_minute()
        planned = plan(job, first_cursor(job, TEN), TEN + 58 * SECOND, 2 * SECOND)
        assert fires(planned) == [TEN + MINUTE]
        assert planned.cursor == Cursor(after=TEN + MINUTE, next_fire_time=TEN + 2 * MINUTE, runs=1)

    def test_before_the_horizon_nothing_happens(self):
        job = every_minute()
        cursor = first_cursor(job, TEN)
        assert plan(job, cursor, TEN + 57_999, 2 * SECOND) == Plan(cursor)

    def test_the_grace_includes_its_edge(self):
        job = every_minute(misfire=Misfire(policy=OnMisfire.SKIP, grace="10s"))
        cursor = first_cursor(job, TEN)
        assert fires(plan(job, cursor, TEN + 70 * SECOND, 0)) == [TEN + MINUTE]
        late = plan(job, cursor, TEN + 70 * SECOND + 1, 0)
        assert skips(late) == [(TEN + MINUTE, TEN + MINUTE, 1, Reason.MISFIRE)]

    def test_the_id_belongs_to_the_fire_time(self):
        job = every_minute()
        (new,) = plan(job, first_cursor(job, TEN), TEN + MINUTE, 0).executions
        assert new.id == execution_id("job", TEN + MINUTE)
        assert (new.kind, new.overlap, new.job) == (Kind.FIRE, Overlap.SKIP, job)


class TestMisfire:
    #: Fires from 10:01 to 10:10 are missed, 10:11 is on time, 10:12 is to come.
    NOW = TEN + 11 * MINUTE + 5 * SECOND

    def planned(self, now=NOW, **misfire):
        job = every_minute(misfire=Misfire(**misfire))
        return plan(job, first_cursor(job, TEN), now, 55 * SECOND)

    def test_skip_runs_none_of_the_missed(self):
        planned = self.planned(policy=OnMisfire.SKIP)
        assert fires(planned) == [TEN + 11 * MINUTE, TEN + 12 * MINUTE]
        assert skips(planned) == [(TEN + MINUTE, TEN + 10 * MINUTE, 10, Reason.MISFIRE)]

    def test_latest_is_the_one_that_is_due(self):
        assert fires(self.planned()) == [TEN + 11 * MINUTE, TEN + 12 * MINUTE]

    def test_latest_is_the_newest_missed_when_none_is_due(self):
        planned = self.planned(now=self.NOW + 10 * SECOND)
        assert fires(planned) == [TEN + 11 * MINUTE, TEN + 12 * MINUTE]
        assert skips(planned) == [(TEN + MINUTE, TEN + 10 * MINUTE, 10, Reason.MISFIRE)]

    def test_all_is_capped(self):
        planned = self.planned(policy=OnMisfire.ALL, cap=3)
        assert fires(planned) == [TEN + minute * MINUTE for minute in range(8, 13)]
        assert skips(planned) == [(TEN + MINUTE, TEN + 7 * MINUTE, 7, Reason.MISFIRE)]

    def test_all_looks_back_as_far_as_its_window(self):
        planned = self.planned(policy=OnMisfire.ALL, catchup_window="2m5s")
        assert fires(planned) == [TEN + minute * MINUTE for minute in range(9, 13)]


class TestBoundedWork:
    @pytest.mark.parametrize("policy", OnMisfire)
    @pytest.mark.parametrize("grace", [0, 10 * SECOND, YEAR])
    def test_a_clock_that_jumps_ten_years_is_walked_in_chunks(self, policy, grace):
        job = make_job(Counted([]), misfire=Misfire(policy=policy, grace=Millis(grace)))
        cursor, now = Cursor(after=TEN, next_fire_time=TEN + SECOND), TEN + 10 * YEAR
        for _ in range(3):
            job.trigger.asked.clear()
            planned = plan(job, cursor, now, 2 * SECOND)
            assert len(job.trigger.asked) <= CHUNK
            assert planned.more
            cursor = planned.cursor
        assert TEN + 2 * CHUNK * SECOND < cursor.after < TEN + 4 * CHUNK * SECOND

    def test_when_the_clock_comes_back_the_job_goes_on(self):
        job = make_job(Every("1s"))
        jumped = plan(job, first_cursor(job, TEN), TEN + 10 * YEAR, 0).cursor
        assert jumped.next_fire_time == jumped.after + SECOND
        back = plan(job, jumped, jumped.after + SECOND, 0)
        assert fires(back) == [jumped.after + SECOND]

    def test_a_clock_that_goes_back_fires_nothing_again(self):
        job = every_minute()
        cursor = plan(job, first_cursor(job, TEN), TEN + HOUR, 0).cursor
        assert plan(job, cursor, TEN - HOUR, 2 * SECOND) == Plan(cursor)

    def test_many_missed_are_caught_up_across_chunks(self):
        job = make_job(Every("1s"), misfire=Misfire(policy=OnMisfire.ALL, cap=1000, grace="0s"))
        now = TEN + 2 * CHUNK * SECOND
        plans = [plan(job, first_cursor(job, TEN), now, 0)]
        while plans[-1].more:
            plans.append(plan(job, plans[-1].cursor, now, 0))
        caught_up = [fire for each in plans for fire in fires(each)]
        assert caught_up == list(range(now - 1000 * SECOND, now + 1, SECOND))
        assert sum(skip.count for each in plans for skip in each.skips) == 2 * CHUNK - 1001

    @pytest.mark.parametrize("policy", OnMisfire)
    def test_fires_that_are_hard_to_find_are_walked_in_parts(self, policy, monkeypatch):
        monkeypatch.setattr(planning, "TOIL", 50)
        trigger = Cron("*/10 * * * *", within=[Window("*", "09:00", "17:00")])
        job = make_job(trigger, misfire=Misfire(policy=policy, cap=20, grace="0s"))
        now = TEN + 30 * DAY
        plans = [plan(job, first_cursor(job, TEN), now, 0)]
        while plans[-1].more:
            assert (plans[-1].cursor.next_fire_time or now) < now
            plans.append(plan(job, plans[-1].cursor, now, 0))
        assert len(plans) > 10
        answered = sum(len(each.executions) + sum(s.count for s in each.skips) for each in plans)
        assert answered == len(list(trigger.between(TEN, now)))


class TestMaxRuns:
    def test_the_last_run_finishes_the_job(self):
        job = make_job(Every("1m", max_runs=2))
        planned = plan(job, first_cursor(job, TEN), TEN + MINUTE, 5 * MINUTE)
        assert fires(planned) == [TEN + MINUTE, TEN + 2 * MINUTE]
        assert planned.cursor.state is JobState.FINISHED
        assert planned.cursor.next_fire_time is None

    def test_skips_do_not_count(self):
        job = make_job(Every("1m", max_runs=2))
        planned = plan(job, first_cursor(job, TEN), TEN + HOUR, 0)
        assert fires(planned) == [TEN + HOUR]
        assert (planned.cursor.runs, planned.cursor.state) == (1, JobState.ACTIVE)

    def test_nothing_is_walked_once_the_runs_are_used_up(self):
        job = make_job(Every("1m", max_runs=2))
        cursor = replace(first_cursor(job, TEN), runs=2)
        planned = plan(job, cursor, TEN + HOUR, 0)
        assert (fires(planned), skips(planned)) == ([], [])
        assert planned.cursor.state is JobState.FINISHED


class TestFirstCursor:
    def test_a_fire_time_at_the_very_instant_is_past(self):
        assert first_cursor(every_minute(), TEN).next_fire_time == TEN + MINUTE

    @pytest.mark.parametrize(
        ("late", "state"), [(10 * SECOND, JobState.ACTIVE), (10_001, JobState.FINISHED)]
    )
    def test_once_in_the_past_fires_within_the_grace(self, late, state):
        job = make_job(Once(to_datetime(TEN)))
        cursor = first_cursor(job, TEN + late)
        assert cursor.state is state
        planned = plan(job, cursor, TEN + late, 0)
        assert fires(planned) == ([TEN] if state is JobState.ACTIVE else [])
        assert planned.cursor.state is JobState.FINISHED

    @pytest.mark.parametrize("after", ["fire", "finish"])
    def test_a_series_that_is_over_does_not_start(self, after):
        job = make_job(Every("1s", after=after, until=to_datetime(TEN - 1)))
        assert first_cursor(job, TEN).state is JobState.FINISHED

    def test_on_demand_stays_active(self):
        job = make_job(OnDemand())
        cursor = first_cursor(job, TEN)
        assert cursor == Cursor(after=TEN)
        assert plan(job, cursor, TEN + HOUR, 0) == Plan(cursor)


class TestAfterFinish:
    def test_while_a_run_is_live_there_is_nothing_to_plan(self):
        job = make_job(Every("1m", after="finish"))
        live = Cursor(after=TEN)
        assert plan(job, live, TEN + HOUR, 0) == Plan(live)

    def test_a_missed_run_that_is_skipped_counts_from_now(self):
        job = make_job(Every("1m", after="finish"), misfire=Misfire(policy=OnMisfire.SKIP))
        planned = plan(job, first_cursor(job, TEN), TEN + HOUR, 0)
        assert skips(planned) == [(TEN + MINUTE, TEN + MINUTE, 1, Reason.MISFIRE)]
        assert planned.cursor.next_fire_time == TEN + HOUR + MINUTE

    def test_it_finishes_when_the_series_is_over(self):
        trigger = Every("1m", after="finish", until=to_datetime(TEN + 90 * SECOND))
        job = make_job(trigger, misfire=Misfire(policy=OnMisfire.SKIP))
        planned = plan(job, first_cursor(job, TEN), TEN + HOUR, 0)
        assert len(planned.skips) == 1
        assert planned.cursor.state is JobState.FINISHED


class TestPause:
    def held(self, until=None):
        note = Pause(by="ann", why="move", since=TEN, until=until)
        return Cursor(state=JobState.PAUSED, after=TEN, next_fire_time=until, pause=note)

    def test_it_holds_until_someone_resumes(self):
        assert plan(every_minute(), self.held(), TEN + YEAR, 0) == Plan(self.held())

    def test_resuming_skips_what_was_passed_as_one_range(self):
        now = TEN + HOUR + 5 * SECOND
        planned = plan(every_minute(), resumed(self.held(), now), now, 2 * SECOND)
        assert skips(planned) == [(TEN + MINUTE, TEN + HOUR, 60, Reason.PAUSED)]
        assert (fires(planned), planned.release_at) == ([], None)
        assert planned.cursor == Cursor(after=TEN + HOUR, next_fire_time=TEN + HOUR + MINUTE)

    def test_a_pause_with_an_end_does_not_cover_its_end(self):
        planned = plan(every_minute(), self.held(TEN + HOUR), TEN + HOUR - SECOND, 2 * SECOND)
        assert skips(planned) == [(TEN + MINUTE, TEN + HOUR - MINUTE, 59, Reason.PAUSED)]
        assert fires(planned) == [TEN + HOUR]
        assert planned.release_at == TEN + HOUR
        assert planned.cursor.pause is None

    def test_an_outage_after_the_end_of_a_pause_is_a_misfire(self):
        job = every_minute(misfire=Misfire(policy=OnMisfire.SKIP))
        late = TEN + 2 * HOUR + 30 * SECOND
        wanted = [
            (TEN + MINUTE, TEN + HOUR - MINUTE, 59, Reason.PAUSED),
            (TEN + HOUR, TEN + 2 * HOUR, 61, Reason.MISFIRE),
        ]
        assert skips(plan(job, self.held(TEN + HOUR), late, 0)) == wanted
        assert skips(plan(job, resumed(self.held(TEN + HOUR), late), late, 0)) == wanted

    def test_a_long_pause_is_skipped_in_chunks(self):
        job, now = make_job(Every("1s")), TEN + (CHUNK + 5) * SECOND
        first = plan(job, resumed(self.held(), now), now, 0)
        assert first.more
        second = plan(job, first.cursor, now, 0)
        assert [count for _, _, count, _ in skips(first) + skips(second)] == [CHUNK, 5]
        assert {reason for *_, reason in skips(first) + skips(second)} == {Reason.PAUSED}
        assert second.cursor.paused_through is None


class TestNewExecution:
    def test_jitter_delays_the_start_and_never_the_fire_time(self):
        job = make_job(Cron("* * * * *", jitter="30s"))
        made = [
            new_execution(job, fire, id=f"{fire}", kind=Kind.FIRE, overlap=Overlap.SKIP)
            for fire in range(TEN, TEN + 50)
        ]
        delays = [new.run_at - new.fire_time for new in made]
        assert 0 <= min(delays) < max(delays) <= 30 * SECOND
        assert all(new.rank == rank(new.run_at, job.priority) for new in made)

    def test_jitter_is_that_of_the_name_in_the_project_whatever_the_id(self):
        def start(**fields):
            job = replace(make_job(Cron("* * * * *", jitter="1h")), **fields)
            made = new_execution(job, TEN, id=job.id, kind=Kind.FIRE, overlap=Overlap.SKIP)
            return made.run_at

        first = start(id="one", name="report")
        assert start(id="two", name="report") == first == TEN + 2_746_088
        assert len({first, start(name="other"), start(name="report", project="shop")}) == 3

    def test_a_requested_run_has_no_jitter(self):
        job = make_job(Cron("* * * * *", jitter="30s"))
        new = new_execution(job, TEN, id="x", kind=Kind.REQUEST, overlap=Overlap.ALLOW)
        assert new.run_at == TEN

    def test_its_own_payload_chooses_the_gate(self):
        limits = Concurrency("to-{{payload.to}}", 2)
        job = make_job(OnDemand(), payload={"to": "ann"}, concurrency=limits)
        usual = new_execution(job, TEN, id="x", kind=Kind.REQUEST, overlap=Overlap.ALLOW)
        own = new_execution(
            job, TEN, id="y", kind=Kind.REQUEST, overlap=Overlap.ALLOW, payload={"to": "bob"}
        )
        assert (usual.gate, usual.limit) == ("default/to-ann", 2)
        assert own.gate == "default/to-bob"
