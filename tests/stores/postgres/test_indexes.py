"""An index that somebody dropped or changed is named, and its remedy puts it right."""

from tickwell.stores.postgres.migrate import made


async def carry_out(owner, remedy):
    for statement in remedy.removeprefix("As its owner: ").rstrip(";").split(";"):
        await owner.execute(statement)


async def test_all_indexes_are_as_they_were_made(store, owner):
    assert await store.flaws() == []
    names = await owner.fetch("SELECT indexname FROM pg_indexes WHERE schemaname = 'stores'")
    others = {name for (name,) in names if not name.endswith("_pkey")}
    assert others == made("stores").keys()


async def test_one_that_is_missing(store, owner):
    await owner.execute("DROP INDEX stores.queue_claim")
    [flaw] = await store.flaws()
    assert flaw.text == "the index queue_claim is missing"
    await carry_out(owner, flaw.remedy)
    assert await store.flaws() == []


async def test_one_with_other_columns_or_rows(store, owner):
    await owner.execute("DROP INDEX stores.queue_run; DROP INDEX stores.execution_request")
    await owner.execute("CREATE INDEX queue_run ON stores.queue (run_at, queue) WHERE state = 2")
    await owner.execute("CREATE INDEX execution_request ON stores.execution (job, request_key)")
    flawed = await store.flaws()
    assert [each.text for each in flawed] == [
        "the index execution_request is not as Tickwell made it",
        "the index queue_run is not as Tickwell made it",
    ]
    for each in flawed:
        await carry_out(owner, each.remedy)
    assert await store.flaws() == []
