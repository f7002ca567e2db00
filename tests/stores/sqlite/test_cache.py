"""A definition that was rolled back is not remembered."""

import sqlite3

import pytest

from tickwell.domain.change import edit
from tickwell.domain.job import Entry
from tickwell.domain.planning import first_cursor
from tickwell.errors import StoreError
from tickwell.stores.sqlite import SqliteStore
from tickwell.testing.contract.builders import T0, a_job


async def test_a_commit_that_fails_leaves_no_version_behind(tmp_path, monkeypatch):
    first, second = SqliteStore(tmp_path / "t.db"), SqliteStore(tmp_path / "t.db")
    await first.open()
    await second.open()
    job = a_job(name="report")
    await first.add_jobs([Entry(job, first_cursor(job, T0))], T0)

    def named(description):
        return edit(a_job(name="report", description=description))

    sound = first.writer.attempt

    def failing(session, work):
        def then_fail(session):
            work(session)
            raise sqlite3.OperationalError("disk I/O error")

        return sound(session, then_fail)

    monkeypatch.setattr(first.writer, "attempt", failing)
    with pytest.raises(StoreError):
        await first.change_jobs(job.project, [job.id], named("lost"), T0)
    monkeypatch.undo()
    await second.change_jobs(job.project, [job.id], named("kept"), T0)
    [entry] = await first.get_jobs(job.project, [job.id])
    assert entry.job.description == "kept"
    await first.close()
    await second.close()
