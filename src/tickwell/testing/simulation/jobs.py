"""The jobs of a simulated run: every trigger, policy and gate, mixed by the seed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random

from tickwell.clock import to_datetime
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Job
from tickwell.domain.policy import DAY, Backoff, Delivery, Misfire, OnMisfire, Retry, Timeout
from tickwell.domain.target import Call
from tickwell.domain.trigger import Cron, Every, Once, OnDemand, Trigger
from tickwell.domain.trigger.duration import Millis
from tickwell.testing.simulation.handlers import TASKS, THREADS
from tickwell.testing.simulation.scenario import Fault, Scenario


def make_jobs(scenario: Scenario, now: int) -> list[Job]:
    """The jobs that are there from the beginning; the first is plain, so that something fires."""
    random = Random(f"{scenario.seed}:jobs")
    # A year is a long walk: jobs that fire each second would take all the time there is.
    periods = (120, 600) if Fault.YEAR in scenario.faults else (1, 15)
    jobs = [make_job(random, number, now, periods) for number in range(scenario.jobs)]
    plain = Job(
        id="j-plain",
        name="plain",
        trigger=Every(timedelta(seconds=random.randint(*periods))),
        target=Call("quick"),
        overlap=Overlap.ALLOW,
        created_at=now,
        saved_at=now,
    )
    return [plain, *map(_rated, jobs)] if scenario.rated else [plain, *jobs]


def _rated(job: Job) -> Job:
    """The same job with a rate that it reaches after an outage, and keeps up with otherwise."""
    if job.concurrency is not None:
        return job
    return replace(job, rate="5/2s", rate_key="shared" if job.name in {"j0", "j1"} else None)


def make_job(random: Random, number: int, now: int, periods: tuple[int, int]) -> Job:
    """One job of any kind."""
    soft = random.randint(1, 5) * 1000
    keyed = random.random() < 0.35
    return Job(
        id=f"j{number}",
        name=f"j{number}",
        trigger=make_trigger(random, now, periods),
        target=Call(random.choice(TASKS + THREADS)),
        priority=random.randint(1, 10),
        retry=_retry(random),
        misfire=_misfire(random),
        overlap=random.choice(list(Overlap)),
        concurrency=Concurrency(random.choice("ab"), 2) if keyed else None,
        delivery=Delivery.AT_MOST_ONCE if random.random() < 0.15 else Delivery.AT_LEAST_ONCE,
        timeout=Timeout(soft=Millis(soft), hard=Millis(soft + random.choice((0, 500, 3000)))),
        expires=Millis(random.randint(1, 20) * 1000) if random.random() < 0.2 else None,
        pause_after=random.randint(1, 4) if random.random() < 0.15 else None,
        created_at=now,
        saved_at=now,
    )


def make_trigger(random: Random, now: int, periods: tuple[int, int]) -> Trigger:
    """Any rule; none fires more often than once a second."""
    seconds = random.randint(*periods)
    max_runs = random.randint(1, 12) if random.random() < 0.15 else None
    jitter = Millis(random.randint(1, 1500) if random.random() < 0.2 else 0)
    roll = random.random()
    if roll < 0.08:
        return Once(to_datetime(now + seconds * 1000))
    if roll < 0.16:
        return OnDemand()
    if roll < 0.3:
        return Every(timedelta(seconds=seconds), after="finish", max_runs=max_runs)
    if roll < 0.45 and periods[0] == 1:
        return Cron(f"*/{seconds} * * * * *", jitter=jitter, max_runs=max_runs)
    phase = Millis(random.randrange(seconds * 1000))
    return Every(timedelta(seconds=seconds), phase=phase, jitter=jitter, max_runs=max_runs)


def _retry(random: Random) -> Retry:
    return Retry(
        max_attempts=random.randint(1, 4),
        backoff=random.choice(list(Backoff)),
        delay=random.choice(("0s", "200ms", "1s", "4s")),
        cap="8s",
        max_age=random.choice((None, None, "20s")),
    )


def _misfire(random: Random) -> Misfire:
    policy = random.choice(list(OnMisfire))
    grace, window = random.choice((0, 1000, 10_000)), random.choice((10_000, DAY))
    return Misfire(
        policy=policy,
        grace=Millis(grace),
        catchup_window=Millis(window if policy is OnMisfire.ALL else DAY),
        cap=random.choice((1, 5, 20)),
    )
