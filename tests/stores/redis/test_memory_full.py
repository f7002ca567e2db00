"""`maxmemory` reached: nothing new is recorded, whole; what is on record goes on."""

import pytest

from tests.servers.redis import start
from tests.servers.redis_keys import client
from tickwell.domain.change import pause
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.trigger import OnDemand
from tickwell.errors import StoreFull
from tickwell.ports.records import Record
from tickwell.stores.redis import RedisStore
from tickwell.testing.contract.builders import T0, a_job, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.snapshot import snapshot


@pytest.fixture
async def full():
    """A scene with work on record, on a server that takes no more."""
    made = start("--maxmemory-policy", "noeviction")
    store = RedisStore.from_url(made.url)
    await store.open()
    scene = Scene(store)
    with client(made) as keys:
        yield (
            scene,
            lambda: keys.config_set("maxmemory", 1),
            lambda: keys.config_set("maxmemory", 0),
        )
    await store.close()


async def test_what_is_on_record_goes_on_and_nothing_is_half_written(full):
    scene, fill, free = full
    timed, job = await scene.job(), await scene.job(trigger=OnDemand())
    await scene.run(*(a_request(job, T0) for _ in range(3)))
    fill()
    before = await snapshot(scene.store, T0)
    with pytest.raises(StoreFull, match="has reached its maxmemory; raise it"):
        await scene.fire(minute(1))
    with pytest.raises(StoreFull):
        await scene.run(a_request(job, T0))
    with pytest.raises(StoreFull):
        await scene.add(a_job())
    with pytest.raises(StoreFull):
        await scene.store.put_record(Record(kind="k", project="p", key="k", document=1), T0)
    assert await snapshot(scene.store, T0) == before
    claims = await scene.claim(T0)
    assert len(claims) == 3
    await scene.succeed(claims[:2], T0)
    await scene.finish(claims[2], OutcomeKind.FAILED, T0)
    await scene.change(timed, pause("ann", "full"), T0)
    assert await scene.states(job) == [State.SUCCEEDED, State.SUCCEEDED, State.WAITING]
    free()
    assert len(await scene.run(a_request(job, T0))) == 1
