"""The judge: facts in, findings and levels out."""

from dataclasses import replace

import pytest

from tickwell.domain.health import (
    Facts,
    Finding,
    Health,
    Level,
    LinkState,
    Platform,
    ProcessHealth,
    ProjectFacts,
    judge,
)
from tickwell.domain.health.facts import LATE
from tickwell.domain.worker import MISSED_BEATS, Liveness, Worker

NOW = 1_781_517_600_000
BOTH = Worker(
    id="w",
    host="h",
    pid=1,
    queues=("default",),
    abilities=("http",),
    capacity=10,
    started_at=0,
    roles=("planner", "worker"),
    beat_every=5_000,
)
ALIVE = Liveness(worker=BOTH, beat=1, seen_at=NOW)
WELL = Platform(store="sqlite:///jobs.db", now=NOW, host="h", processes=[ALIVE], fire=NOW + 500)


def checks(health):
    return {each.check: each.level for each in health.findings}


def test_a_system_that_works_is_green_and_ready():
    health = judge(Facts(platform=WELL, process=ProcessHealth(ok=True)))
    assert (health.level, health.ready, health.troubles) == (Level.GREEN, True, [])
    assert (health.database, health.redis, health.scheduler_service) == (True, None, "running")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_red_beats_amber_beats_green(order):
    findings = [Finding("a", level, "") for level in Level]
    assert Health(findings=[findings[n] for n in order], database=True).level is Level.RED
    assert Health(findings=findings[:2], database=True).level is Level.AMBER
    assert Health(findings=[], database=True).level is Level.GREEN


def test_the_worst_comes_first():
    facts = Facts(platform=replace(WELL, fire=NOW - LATE - 1, processes=[]))
    levels = [each.level.rank for each in judge(facts).findings]
    assert levels == sorted(levels, reverse=True)


def test_a_beat_that_is_late_is_no_alarm():
    """Under load a beat comes late: as long as two are not missing, nobody is told."""
    late = replace(ALIVE, seen_at=NOW - MISSED_BEATS * BOTH.beat_every)
    assert judge(Facts(platform=replace(WELL, processes=[late]))).level is Level.GREEN


def test_a_beat_of_the_future_keeps_nobody_alive():
    """The store's clock was set back by an hour, and the process ended before its next beat."""
    ended = replace(ALIVE, seen_at=NOW + 3_600_000)
    health = judge(Facts(platform=replace(WELL, processes=[ended], fire=NOW - LATE - 1)))
    assert (checks(health)["planner"], health.scheduler_service) == (Level.RED, "stopped")
    assert not ended.is_counted_on(NOW)
    slightly = replace(ALIVE, seen_at=NOW + 1_000)
    assert judge(Facts(platform=replace(WELL, processes=[slightly]))).level is Level.GREEN


def test_a_planner_that_is_some_seconds_behind_is_no_alarm():
    assert judge(Facts(platform=replace(WELL, fire=NOW - LATE))).level is Level.GREEN
    behind = judge(Facts(platform=replace(WELL, fire=NOW - LATE - 1)))
    assert checks(behind)["planner"] is Level.AMBER


def test_a_gate_that_keeps_a_run_waiting_is_no_alarm_while_a_planner_lives():
    assert judge(Facts(platform=replace(WELL, promote=NOW - 60_000))).level is Level.GREEN


def test_a_store_that_is_away_is_told_once_and_not_by_every_loop():
    process = ProcessHealth(ok=False, problems=["planner: refused", "reaper: refused"])
    health = judge(Facts(platform=replace(WELL, error="refused"), process=process))
    assert checks(health) == {"store": Level.RED}
    assert (health.ready, health.database, health.scheduler_service) == (False, False, "failing")
    assert health.looked_at is None


@pytest.mark.parametrize(
    ("platform", "is_ready"),
    [
        (WELL, True),
        (replace(WELL, processes=[], fire=NOW - 60_000), True),
        (replace(WELL, error="refused"), False),
    ],
)
def test_a_probe_fails_only_for_what_keeps_the_process_from_answering(platform, is_ready):
    assert judge(Facts(platform=platform, process=ProcessHealth(ok=True))).ready is is_ready


def test_a_process_that_fails_is_not_ready():
    process = ProcessHealth(ok=False, problems=["planner: it hangs"])
    health = judge(Facts(platform=WELL, process=process))
    assert (health.ready, health.level, health.scheduler_service) == (False, Level.RED, "failing")


def test_what_a_project_causes_is_not_told_to_strangers():
    health = judge(Facts(platform=WELL, project=ProjectFacts(dead=3)))
    assert (health.level, health.shared_level) == (Level.AMBER, Level.GREEN)


@pytest.mark.parametrize("level", [Level.AMBER, Level.RED])
def test_a_link_that_is_away_has_its_own_level(level):
    link = LinkState(
        check="redis", name="Redis", error="refused", level=level, effect="slow", remedy="Start it"
    )
    health = judge(Facts(platform=replace(WELL, links=[link])))
    assert (checks(health)["redis"], health.redis) == (level, False)


def test_a_store_on_redis_is_the_redis():
    store = replace(WELL, store="redis://db/0")
    assert judge(Facts(platform=store)).redis is True
    assert judge(Facts(platform=replace(store, error="refused"))).redis is False
