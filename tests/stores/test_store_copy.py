"""Everything goes from any store into any other one, and is the same there."""

import subprocess

import pytest

from tests.processes.start import start
from tests.servers import mariadb_tables, mongo, redis_keys, schemas
from tickwell.domain.change import delete, edit, pause
from tickwell.domain.execution import Claim, RangeSkip, Reason, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.policy import MINUTE, Retry
from tickwell.domain.step import Step
from tickwell.domain.trigger import OnDemand
from tickwell.errors import StoreError, StoreRefused
from tickwell.ports.records import Record
from tickwell.services import store_copy
from tickwell.services.store_copy import MARK, StoreCopy
from tickwell.testing.contract.builders import T0, a_job, a_request, a_worker
from tickwell.testing.contract.scene import Scene
from tickwell.wiring import make_store

NAME = "copying"


async def postgres(_):
    await schemas.empty(NAME)
    return schemas.url(NAME)


async def mysql(_):
    await mariadb_tables.empty(f"{NAME}_")
    return mariadb_tables.url(f"{NAME}_")


async def mongodb(_):
    place = mongo.server().url(NAME, journal="false")
    mongo.empty(place)
    return place


async def redis(_):
    redis_keys.empty(NAME)
    return redis_keys.url(NAME)


async def sqlite(folder):
    return f"sqlite:///{folder}/copy.db"


async def memory(_):
    return "memory://"


PLACES = [memory, sqlite, postgres, mysql, mongodb, redis]


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch):
    monkeypatch.setattr(store_copy, "PAGE", 3)


@pytest.fixture
async def opened():
    """Opens a store, and closes it in the end."""
    stores = []

    async def open_it(url):
        store = make_store(url)
        await store.open()
        stores.append(store)
        return store

    yield open_it
    for store in stores:
        await store.close()


async def fill(store):
    """Jobs in each state, executions in each state, skips, steps and records."""
    scene = Scene(store)
    retried = await scene.job("retried", retry=Retry(max_attempts=2))
    gone = await scene.job("gone")
    held = await scene.job("held", overlap=Overlap.QUEUE_ALL, trigger=OnDemand())
    keyed = await scene.job(
        "keyed", concurrency=Concurrency(key="{payload.who}", limit=1), trigger=OnDemand()
    )
    await scene.job("è paused", project="other")
    await scene.change(retried, edit(a_job("retried", id=retried.id, tags=("x",))), T0 + 1)
    await scene.fire(T0 + MINUTE)
    await scene.promote(T0 + MINUTE)
    claims = {claim.job.name: claim for claim in await scene.claim(T0 + MINUTE)}
    await store.write_steps([step(claims["retried"], "read", {"rows": [1, 2]})])
    await scene.fail(claims["retried"], T0 + MINUTE + 1000, error="no \N{SNOWMAN}")
    await scene.succeed(claims["gone"], T0 + MINUTE + 1000)
    await scene.change(gone, delete(), T0 + MINUTE + 2000)
    await scene.job("gone", now=T0 + MINUTE + 3000, trigger=OnDemand())
    [paused] = [each for each in await jobs(store) if each.name == "è paused"]
    await scene.change(paused, pause("ann", "a reason"), T0 + 2 * MINUTE)
    for number in range(3):
        at = T0 + 2 * MINUTE + number
        await scene.run(a_request(held, at, overlap=Overlap.QUEUE_ALL, key=f"k{number}"), now=at)
    await scene.run(a_request(keyed, T0 + 3 * MINUTE, payload={"who": "me"}), now=T0 + 3 * MINUTE)
    skip = RangeSkip(job_id=keyed.id, first=T0, last=T0 + 5, count=2, reason=Reason.PAUSED)
    await store.restore_skips(keyed, [skip, skip])
    await store.put_record(Record(kind="note", project="default", key="1", document={"a": 1}), T0)
    await store.put_record(Record(kind="note", project="default", key="1", document=[None]), T0)
    await scene.beat(now=T0 + 3 * MINUTE, leaving=True)


async def jobs(store):
    return [entry.job for entry in (await store.list_jobs(store_copy.EVERY_JOB, None, 100)).items]


def step(claim: Claim, name, value):
    return Step(execution=claim.id, attempt=claim.attempt, name=name, value=value, at=T0)


async def copied(source, target, **options):
    copying = StoreCopy(source, target)
    await copying.prepare(**options)
    await copying.copy(lambda _: None)
    return await copying.verify(lambda _: None)


@pytest.mark.parametrize("place", PLACES)
async def test_what_memory_holds_comes_back_from_every_store(place, opened, tmp_path):
    first, last = await opened("memory://"), await opened("memory://")
    last.name = "memory://2"
    await fill(first)
    middle = await opened(await place(tmp_path))
    middle.name += "#"
    there = await copied(first, middle)
    back = await copied(middle, last)
    assert there == back
    assert there["jobs"].count == 6
    assert {kind: tally.count > 0 for kind, tally in back.items()} == dict.fromkeys(back, True)
    assert await last.read_executions("", 100) == await first.read_executions("", 100)
    assert await last.stats() == {**await first.stats(), **await live_stats(last)}
    assert await last.get_record(MARK, "", "", T0) is None


async def live_stats(store):
    """Those of live executions: what was queued waits again."""
    stats = await store.stats()
    live = (State.WAITING, State.BLOCKED, State.QUEUED, State.RUNNING, State.PARKED)
    return {state: stats[state] for state in live}


@pytest.mark.parametrize("place", PLACES)
async def test_a_copy_of_a_store_that_was_used_goes_on(place, opened, tmp_path):
    source, target = await opened(await place(tmp_path)), await opened("memory://")
    source.name += "#"
    await fill(source)
    await copied(source, target)
    scene, ran = Scene(target), 0
    now = T0 + 4 * MINUTE
    for _ in range(20):
        await scene.promote(now)
        claims = await scene.claim(now)
        await scene.succeed(claims, now + 1)
        ran += len(claims)
        now += MINUTE
    states = set(await scene.states())
    assert ran == 5
    assert states <= {State.SUCCEEDED, State.SKIPPED}


async def test_a_store_that_is_not_empty_is_refused(opened):
    source, target = await opened("memory://"), await opened("memory://")
    target.name = "memory://2"
    await fill(source)
    await target.put_record(Record(kind="note", project="p", key="k", document=1), T0)
    with pytest.raises(StoreRefused, match="memory://2 is not empty; copy into a store"):
        await copied(source, target)


async def test_an_unfinished_copy_of_another_store_is_refused(opened):
    source, target = await opened("memory://"), await opened("memory://")
    target.name = "memory://2"
    await StoreCopy(source, target).prepare()
    source.name = "memory://3"
    with pytest.raises(StoreRefused, match="an unfinished copy of memory://, not of memory://3"):
        await copied(source, target)


async def test_a_store_cannot_be_copied_into_itself(opened):
    with pytest.raises(StoreRefused, match="cannot be copied into itself"):
        await copied(await opened("memory://"), await opened("memory://"))


async def test_a_store_in_use_is_refused_unless_told_otherwise(opened):
    source, target = await opened("memory://"), await opened("memory://")
    target.name = "memory://2"
    await source.beat(a_worker(), await source.ping())
    with pytest.raises(StoreRefused, match="memory:// is in use by process 1 on here; stop all"):
        await copied(source, target)
    await copied(source, target, live=True)


async def test_what_expires_while_a_copy_is_cut_off_is_no_difference(opened):
    source, target = await opened("memory://"), await opened("memory://")
    target.name = "memory://2"
    now = await source.ping()
    note = Record(kind="note", project="p", key="k", document=1, expires_at=now + MINUTE)
    await source.put_record(note, now)
    source._wall = target._wall = lambda: now
    cut_off = StoreCopy(source, target)
    await cut_off.prepare()
    await cut_off.copy(lambda _: None)
    source._wall = target._wall = lambda: now + 2 * MINUTE
    tallies = await copied(source, target)
    assert tallies["records"].count == 1


async def test_jobs_with_one_key_after_an_edit_are_named(opened):
    source, target = await opened("memory://"), await opened("memory://")
    target.name = "memory://2"
    scene = Scene(source)
    first = await scene.job("first", dedupe_key="a")
    await scene.change(first, edit(a_job("first", id=first.id, dedupe_key="b")), T0 + 1)
    await scene.job("second", dedupe_key="b")
    said = "jobs 'second' and 'first' of project 'default' have the same dedupe_key 'b'; edit"
    with pytest.raises(StoreError, match=said):
        await copied(source, target)


async def test_what_differs_in_the_end_is_told(opened):
    source, target = await opened("memory://"), await opened("memory://")
    target.name = "memory://2"
    await fill(source)
    copying = StoreCopy(source, target)
    await copying.prepare()
    await copying.copy(lambda _: None)
    await target.put_record(Record(kind="note", project="p", key="k", document=1), T0)
    with pytest.raises(
        StoreError, match=r"differs from the original: \d records were read and \d are"
    ):
        await copying.verify(lambda _: None)


@pytest.mark.parametrize("pages", range(1, 9))
async def test_killed_at_any_page_it_goes_on_without_a_duplicate(pages, opened, tmp_path):
    urls = f"sqlite:///{tmp_path}/from.db", await postgres(tmp_path)
    source = await opened(urls[0])
    await fill(source)
    pipe = subprocess.PIPE
    child = start("tests.stores.copy_child", *urls, stdin=pipe, stdout=pipe, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    for page in range(pages):
        assert child.stdout.readline().strip() in store_copy.STAGES
        if page + 1 < pages:
            child.stdin.write("\n")
            child.stdin.flush()
    child.kill()
    child.communicate()
    target = await opened(urls[1])
    tallies = await copied(source, target)
    assert await target.read_executions("", 100) == await source.read_executions("", 100)
    assert tallies["executions"].count == len(await source.read_executions("", 100))
    ended = {State.SUCCEEDED, State.DEAD, State.CANCELLED, State.SKIPPED}
    before, after = await source.stats(), await target.stats()
    assert {state: after[state] for state in ended} == {state: before[state] for state in ended}
