"""An act on many that the store breaks off is on record, whatever of it was done."""

import pytest

from tickwell.errors import StoreUnavailable

PAST = {"since": "2026-01-01T00:00:00Z", "until": "2026-01-01T03:00:00Z"}


def breaks_off(monkeypatch, whose, name):
    """It does what is asked, and answers nothing."""
    act = getattr(whose, name)

    async def done(*arguments, **options):
        await act(*arguments, **options)
        raise StoreUnavailable("gone")

    monkeypatch.setattr(whose, name, done)


@pytest.mark.parametrize("action", ["pause", "delete", "trigger"])
async def test_a_bulk_action(world, http, monkeypatch, action):
    await world.add()
    if action == "trigger":
        breaks_off(monkeypatch, world.store, "add_executions")
    else:
        breaks_off(monkeypatch, world.operation_context.jobs, action)
    assert (await http.post(f"/bulk/{action}", json={"filter": {}})).status_code == 503
    assert world.journal.entries[-1] == ("local", f"bulk.{action}", "jobs")


async def test_a_purge(world, http, monkeypatch):
    await world.die()
    breaks_off(monkeypatch, world.store, "purge")
    assert (await http.post("/dead-letters/purge", json={"filter": {}})).status_code == 503
    assert world.journal.entries[-1] == ("local", "dead_letters.purge", "dead_letters")


async def test_a_backfill(world, http, monkeypatch):
    job = await world.add(trigger={"every": "1h"})
    breaks_off(monkeypatch, world.store, "add_executions")
    assert (await http.post("/jobs/report/backfill", json=PAST)).status_code == 503
    assert world.journal.entries[-1] == ("local", "job.backfill", f"job/{job['id']}")
