"""An index that somebody dropped or changed is named, and its remedy puts it right."""

import pytest

from tests.servers.mariadb_tables import run
from tickwell.errors import StoreCorrupt
from tickwell.stores.mysql.migrate import made


async def carry_out(remedy):
    await run(remedy.removeprefix("As its owner: ").rstrip(";"))


async def test_all_indexes_are_as_they_were_made(store):
    assert await store.flaws() == []
    rows = await run(
        "SELECT DISTINCT table_name, index_name FROM information_schema.statistics"
        " WHERE table_schema = DATABASE() AND index_name <> 'PRIMARY'"
    )
    ours = {(table, name) for table, name in rows if table.startswith("stores_")}
    assert ours == made("stores_").keys()


async def test_one_that_is_missing(store):
    await run("ALTER TABLE stores_cursor DROP KEY cursor_due")
    try:
        with pytest.raises(StoreCorrupt, match=r"has lost an index .*; tickwell doctor says how"):
            await store.fire_due(1, 1, 1, None)
    finally:
        [flaw] = await store.flaws()
        await carry_out(flaw.remedy)
    assert flaw.text == "the index cursor_due of stores_cursor is missing"
    assert await store.flaws() == []


async def test_one_with_other_columns_or_not_unique(store):
    await run("ALTER TABLE stores_queue DROP KEY queue_run, ADD KEY queue_run (run_at)")
    await run("ALTER TABLE stores_job DROP KEY job_name, ADD KEY job_name (project, live_name)")
    flawed = await store.flaws()
    for each in flawed:
        await carry_out(each.remedy)
    assert [each.text for each in flawed] == [
        "the index job_name of stores_job is not as Tickwell made it",
        "the index queue_run of stores_queue is not as Tickwell made it",
    ]
    assert await store.flaws() == []
