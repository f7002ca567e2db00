"""The demo: a week that never was, with all that a dashboard can show."""

import random
import subprocess
import sys

import pytest

from tickwell.cli.demo.history import fill
from tickwell.cli.demo.shop import PAUSED
from tickwell.domain.execution import State
from tickwell.domain.job import JobState
from tickwell.domain.policy import DAY, HOUR
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.services.insights.overview import look
from tickwell.services.slots.slots import Slots
from tickwell.stores.memory import MemoryStore
from tickwell.testing import ManualClock

NOW = 1_794_000_000_000


@pytest.fixture
async def filled():
    store = MemoryStore()
    await store.open()
    count = await fill(store, NOW, "http://127.0.0.1:9", random.Random(7))
    return store, count


async def test_every_execution_has_ended_and_every_slot_has_its_answer(filled):
    store, count = filled
    stats = {state: n for state, n in (await store.stats("default")).items() if n}
    assert set(stats) == {State.SUCCEEDED, State.DEAD, State.SKIPPED}
    assert sum(stats.values()) == count > 5000
    entry = (await store.get_jobs("default", ["refund-sweep"]))[0]
    counted = await Slots(store, ManualClock(NOW)).completeness(
        "default", entry.job.id, NOW - 3 * DAY, NOW
    )
    assert (counted.due, counted.executed, counted.unanswered) == (72, 72, 0)


async def test_jobs_go_on_from_now_and_some_are_paused(filled):
    store, _ = filled
    page = await store.list_jobs(JobFilter(), limit=100)
    paused = {e.job.name for e in page.items if e.cursor.state is JobState.PAUSED}
    assert (len(page.items), paused) == (42, set(PAUSED))
    fires = [e.cursor.next_fire_time for e in page.items if e.cursor.next_fire_time is not None]
    assert min(fires) > NOW


async def test_the_overview_has_something_to_say(filled):
    store, _ = filled
    found = await look(store, "default", NOW)
    assert found.dead > 20
    assert found.last_day.succeeded > 500
    assert [each for each in found.attention if each.state == "dead"] != []
    dead = ExecutionFilter(project="default", states=frozenset({State.DEAD}), since=NOW - 26 * HOUR)
    assert (await store.list_executions(dead)).items != []


def test_a_store_with_jobs_is_left_alone(tmp_path):
    words = [sys.executable, "-m", "tickwell", "demo", "--no-serve"]
    words += ["--store", f"sqlite:///{tmp_path / 'demo.db'}?synchronous=normal"]
    first = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (first.returncode, "executions of a week" in first.stderr) == (0, True), first.stderr
    second = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (second.returncode, "has jobs already" in second.stderr) == (2, True), second.stderr


def test_a_scratch_store_is_served_or_not_made():
    words = [sys.executable, "-m", "tickwell", "demo", "--no-serve"]
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (said.returncode, "Name one to keep" in said.stderr) == (2, True), said.stderr
