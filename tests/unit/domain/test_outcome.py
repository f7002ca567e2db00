"""What the end of an attempt does to its execution."""

from dataclasses import replace
from itertools import product

import pytest

from tickwell.domain.execution import ENDED, Claim, Kind, OutcomeKind, State
from tickwell.domain.job import Job, rank
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.policy import (
    APART,
    DAY,
    HOUR,
    LOST_BUDGET,
    MINUTE,
    RETURN_BUDGET,
    SECOND,
    Backoff,
    Delivery,
    Retry,
)
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand

NOW = 1_781_517_600_000
FIXED = Retry(max_attempts=3, backoff=Backoff.FIXED, delay="5s", jitter=0)
FAILING = [OutcomeKind.FAILED, OutcomeKind.TIMED_OUT]
RETURNING = [OutcomeKind.RELEASED, OutcomeKind.SNOOZED]


def make_claim(*, delivery=Delivery.AT_LEAST_ONCE, retry=FIXED, **fields):
    job = Job(
        id="job",
        name="report",
        trigger=OnDemand(),
        target=Call("report"),
        delivery=delivery,
        retry=retry,
    )
    counts = {"attempt": 1, "charged": 1, "lost": 0, "returned": 0} | fields
    return Claim(
        id="execution",
        job=job,
        kind=Kind.FIRE,
        fire_time=NOW - MINUTE,
        run_at=NOW - MINUTE,
        payload=None,
        deadline=NOW + HOUR,
        worker="worker",
        claim_id="claim",
        **counts,
    )


def ended(kind, claim=None, *, started=True, **fields):
    outcome = Outcome(kind=kind, started_at=NOW - SECOND if started else None, **fields)
    return decide(claim or make_claim(), outcome, NOW)


class TestEnds:
    def test_success_keeps_its_result(self):
        report = ended(OutcomeKind.SUCCEEDED, result={"rows": 3})
        assert (report.state, report.reason, report.result) == (
            State.SUCCEEDED,
            None,
            {"rows": 3},
        )
        assert (report.ended_at, report.started_at) == (NOW, NOW - SECOND)

    def test_a_cancelled_attempt_is_not_repeated(self):
        report = ended(OutcomeKind.CANCELLED)
        assert (report.state, report.reason) == (State.CANCELLED, "cancelled")

    @pytest.mark.parametrize("kind", FAILING)
    def test_a_failure_is_tried_again_after_the_delay(self, kind):
        report = ended(kind, error="boom")
        assert (report.state, report.run_at) == (State.WAITING, NOW + 5 * SECOND)
        assert report.rank == rank(report.run_at, 5)
        assert (report.charged, report.lost, report.returned) == (1, 0, 0)
        assert report.error == "boom"

    @pytest.mark.parametrize("kind", FAILING)
    def test_the_last_attempt_makes_a_dead_letter(self, kind):
        report = ended(kind, make_claim(charged=3))
        assert (report.state, report.reason) == (State.DEAD, "3 of 3 attempts")

    def test_a_failure_that_is_not_to_be_retried_is_final(self):
        report = ended(OutcomeKind.FAILED, retry=False, pause="410 Gone")
        assert (report.state, report.pause) == (State.DEAD, "410 Gone")


class TestDelay:
    @pytest.mark.parametrize("delay", [0, SECOND, 2 * HOUR])
    def test_what_the_target_asks_for_wins_over_the_backoff(self, delay):
        assert ended(OutcomeKind.FAILED, delay=delay).run_at == NOW + delay

    def test_nobody_puts_an_attempt_off_for_years(self):
        assert ended(OutcomeKind.FAILED, delay=3650 * DAY).run_at == NOW + DAY

    def test_a_snooze_lasts_as_long_as_the_handler_says(self):
        assert ended(OutcomeKind.SNOOZED, delay=3 * DAY).run_at == NOW + 3 * DAY

    def test_nothing_is_put_into_the_past(self):
        assert ended(OutcomeKind.FAILED, delay=-SECOND).run_at == NOW

    def test_a_released_attempt_is_tried_at_once(self):
        assert ended(OutcomeKind.RELEASED).run_at == NOW


class TestMaxAge:
    RETRY = Retry(backoff=Backoff.FIXED, delay="5s", jitter=0, max_age="1m5s")

    def test_the_edge_is_still_tried(self):
        assert ended(OutcomeKind.FAILED, make_claim(retry=self.RETRY)).state is State.WAITING

    @pytest.mark.parametrize("kind", [*FAILING, *RETURNING, OutcomeKind.LOST])
    def test_nothing_is_tried_again_later(self, kind):
        report = ended(kind, make_claim(retry=self.RETRY), delay=5 * SECOND + 1)
        assert (report.state, report.run_at) == (State.DEAD, NOW)

    def test_what_never_started_has_not_been_tried(self):
        report = ended(
            OutcomeKind.RELEASED, make_claim(retry=self.RETRY), delay=HOUR, started=False
        )
        assert report.state is State.WAITING


class TestLost:
    def test_a_lost_attempt_is_not_charged_and_runs_soon(self):
        report = ended(OutcomeKind.LOST, started=False)
        assert report.state is State.WAITING
        assert NOW <= report.run_at <= NOW + APART
        assert (report.charged, report.lost) == (0, 1)

    def test_the_second_waits(self):
        report = ended(OutcomeKind.LOST, make_claim(lost=1))
        assert NOW + 5 * SECOND <= report.run_at <= NOW + 5 * SECOND + 15 * APART
        assert report.lost == 2

    def test_what_was_lost_together_does_not_come_back_together(self):
        claims = [replace(make_claim(lost=1), id=f"e{number}") for number in range(60)]
        again = sorted(ended(OutcomeKind.LOST, claim).run_at for claim in claims)
        # Few meet in one lead of half a second, so that one that kills its worker has few with it.
        assert max(sum(at <= other < at + 500 for other in again) for at in again) < 10

    def test_the_budget_is_its_own(self):
        report = ended(OutcomeKind.LOST, make_claim(lost=LOST_BUDGET - 1))
        assert (report.state, report.reason) == (State.DEAD, "lost 3 times")
        assert ended(OutcomeKind.LOST, make_claim(charged=3)).state is State.WAITING

    def test_a_job_says_how_many_losses_it_takes(self):
        once = make_claim(retry=replace(FIXED, max_losses=1))
        assert ended(OutcomeKind.LOST, once).reason == "lost 1 times"
        ever = make_claim(retry=replace(FIXED, max_losses=None), lost=1000)
        assert ended(OutcomeKind.LOST, ever).state is State.WAITING

    def test_one_of_a_crowd_is_not_blamed(self):
        report = ended(OutcomeKind.LOST, make_claim(lost=LOST_BUDGET - 1), in_crowd=True)
        assert report.state is State.WAITING
        assert (report.charged, report.lost, report.returned) == (0, LOST_BUDGET - 1, 1)

    def test_a_crowd_comes_back_apart_and_further_apart_the_next_time(self):
        claims = [replace(make_claim(), id=f"e{number}") for number in range(60)]
        first = [ended(OutcomeKind.LOST, claim, in_crowd=True).run_at for claim in claims]
        again = [replace(claim, returned=1) for claim in claims]
        second = [ended(OutcomeKind.LOST, claim, in_crowd=True).run_at for claim in again]
        assert NOW <= min(first) <= max(first) <= NOW + APART
        assert NOW <= min(second) <= max(second) <= NOW + 15 * APART
        assert max(second) > NOW + 10 * APART

    def test_one_that_is_lost_in_a_crowd_every_time_dies_all_the_same(self):
        claim, losses = make_claim(), 0
        while (report := ended(OutcomeKind.LOST, claim, in_crowd=True)).state is State.WAITING:
            losses += 1
            counts = {"charged": report.charged + 1, "lost": report.lost}
            claim = replace(claim, attempt=losses + 1, returned=report.returned, **counts)
        assert losses + 1 == RETURN_BUDGET + LOST_BUDGET
        assert report.reason == "lost 3 times"


class TestReturned:
    @pytest.mark.parametrize("kind", RETURNING)
    def test_it_is_given_back(self, kind):
        report = ended(kind, make_claim(charged=3))
        assert (report.state, report.charged, report.returned) == (State.WAITING, 2, 1)

    @pytest.mark.parametrize("kind", RETURNING)
    def test_from_the_eleventh_on_it_counts(self, kind):
        last = ended(kind, make_claim(returned=RETURN_BUDGET - 1))
        assert (last.charged, last.returned) == (0, RETURN_BUDGET)
        report = ended(kind, make_claim(returned=RETURN_BUDGET, charged=3))
        assert (report.state, report.charged) == (State.DEAD, 3)

    def test_a_job_may_allow_more_snoozes_or_none(self):
        many = make_claim(retry=replace(FIXED, max_snoozes=1000), returned=999, charged=3)
        last = ended(OutcomeKind.SNOOZED, many)
        assert (last.state, last.charged, last.returned) == (State.WAITING, 2, 1000)
        assert ended(OutcomeKind.SNOOZED, replace(many, returned=1000)).state is State.DEAD
        none = make_claim(retry=replace(FIXED, max_snoozes=0), charged=3)
        assert ended(OutcomeKind.SNOOZED, none).state is State.DEAD

    def test_snoozes_take_nothing_from_what_is_given_back_at_a_shutdown(self):
        many = make_claim(retry=replace(FIXED, max_snoozes=1000), returned=900, charged=3)
        assert ended(OutcomeKind.RELEASED, many).charged == 2
        none = make_claim(retry=replace(FIXED, max_snoozes=0), charged=3)
        assert ended(OutcomeKind.RELEASED, none).charged == 2


class TestWaiting:
    def test_it_costs_nothing(self):
        claim = make_claim(charged=3, returned=10, retry=Retry(max_age="1ms"))
        outcome = Outcome(
            kind=OutcomeKind.SNOOZED, started_at=NOW, delay=3 * DAY, awaits=("wait:ok",)
        )
        report = decide(claim, outcome, NOW)
        assert (report.state, report.reason, report.run_at) == (State.WAITING, None, NOW + 3 * DAY)
        assert (report.charged, report.lost, report.returned) == (2, 0, 10)
        assert report.awaits == ("wait:ok",)

    def test_answered_it_goes_on_at_once(self):
        claim = make_claim()
        outcome = Outcome(kind=OutcomeKind.SNOOZED, started_at=NOW, delay=DAY, awaits=("wait:ok",))
        report = decide(claim, outcome, NOW).answered()
        assert (report.run_at, report.rank) == (NOW, rank(NOW, claim.job.priority))


class TestAtMostOnce:
    @pytest.mark.parametrize("kind", [*FAILING, *RETURNING])
    def test_once_started_any_outcome_is_final(self, kind):
        report = ended(kind, make_claim(delivery=Delivery.AT_MOST_ONCE))
        assert (report.state, report.reason) == (
            State.DEAD,
            "at most once: the attempt had started",
        )

    def test_what_never_started_may_go_to_another_worker(self):
        claim = make_claim(delivery=Delivery.AT_MOST_ONCE)
        assert ended(OutcomeKind.RELEASED, claim, started=False).state is State.WAITING

    def test_a_lost_attempt_may_have_started(self):
        claim = make_claim(delivery=Delivery.AT_MOST_ONCE)
        report = ended(OutcomeKind.LOST, claim, started=False)
        assert (report.state, report.reason) == (
            State.DEAD,
            "at most once: its worker was lost, and the attempt may have started",
        )


def test_every_outcome_has_a_consequence_within_the_budgets():
    flags = [True, False]
    for kind, delivery, charged, lost, returned, started, retry, delay in product(
        OutcomeKind, Delivery, range(1, 4), range(3), [0, 9, 10], flags, flags, [None, 0, DAY]
    ):
        claim = make_claim(
            delivery=delivery, charged=charged, lost=lost, returned=returned, attempt=7
        )
        outcome = Outcome(kind=kind, started_at=NOW if started else None, retry=retry, delay=delay)
        report = decide(claim, outcome, NOW)
        assert report.claim.attempt == 7
        assert report.state in ENDED | {State.WAITING}
        skipped = kind is OutcomeKind.SKIPPED  # its condition answered no
        assert (report.state is State.SKIPPED) is skipped
        untried = kind is OutcomeKind.RELEASED and not started
        stays = untried and delay is None
        assert report.run_at == claim.run_at if stays else report.run_at >= NOW
        assert 0 <= report.charged <= charged
        assert report.lost <= LOST_BUDGET
        assert report.returned <= RETURN_BUDGET
        assert charged - report.charged == report.lost - lost + report.returned - returned + (
            untried or skipped
        )
        assert bool(report.reason) is (report.state in {State.DEAD, State.CANCELLED, State.SKIPPED})
        assert report == decide(claim, outcome, NOW)


def test_claims_that_never_start_cost_nothing_and_keep_their_place():
    claim = make_claim(returned=RETURN_BUDGET)
    report = decide(claim, Outcome(kind=OutcomeKind.RELEASED), NOW)
    assert report.state is State.WAITING
    assert (report.charged, report.returned) == (claim.charged - 1, RETURN_BUDGET)
    assert (report.run_at, report.rank) == (claim.run_at, rank(claim.run_at, claim.job.priority))


@pytest.mark.parametrize(("instant", "again"), [(NOW, NOW + SECOND), (NOW + HOUR, NOW + HOUR)])
def test_what_is_put_off_untried_waits_and_is_never_early(instant, again):
    claim = make_claim()
    claim.run_at = instant
    report = decide(claim, Outcome(kind=OutcomeKind.RELEASED, delay=SECOND), NOW)
    assert (report.state, report.run_at, report.charged) == (State.WAITING, again, 0)


def test_every_execution_ends_whatever_its_attempts_do():
    longest = FIXED.max_attempts + LOST_BUDGET + RETURN_BUDGET
    for kinds in product(set(OutcomeKind) - {OutcomeKind.SUCCEEDED}, repeat=2):
        claim, attempts = make_claim(), 0
        while True:
            report = ended(kinds[attempts % 2], claim)
            attempts += 1
            if report.state is not State.WAITING:
                break
            claim = make_claim(
                attempt=attempts + 1,
                charged=report.charged + 1,
                lost=report.lost,
                returned=report.returned,
            )
        assert attempts <= longest
