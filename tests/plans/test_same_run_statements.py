"""Requests that are compared with others run a few short statements more; other requests, none."""

from importlib.resources import files

import pytest

from tickwell.domain.unique import unique_of, uniqueness_of
from tickwell.stores.sql.statements import parse
from tickwell.stores.sqlite import SqliteStore
from tickwell.stores.sqlite.session import Session
from tickwell.testing.contract.builders import T0, a_request
from tickwell.testing.contract.scene import Scene

OWN = {
    name
    for name, _ in parse(
        files("tickwell.stores.sqlite").joinpath("statements", "unique.sql").read_text("utf-8")
    )
}


@pytest.fixture
async def scene(tmp_path):
    store = SqliteStore.from_url(f"sqlite:///{tmp_path}/tickwell.db")
    await store.open()
    yield Scene(store)
    await store.close()


@pytest.fixture
def names(monkeypatch):
    ran, sound = [], Session.execute

    def execute(self, name, *parameters):
        ran.append(name)
        return sound(self, name, *parameters)

    monkeypatch.setattr(Session, "execute", execute)
    return ran


def asked(job, now, payload=None):
    new = a_request(job, now + (job.debounce or 0), payload=payload)
    rule = uniqueness_of(job, None)
    new.unique = None if rule is None else unique_of(job, payload, rule)
    return new


async def own_statements(scene, names, job, now):
    names.clear()
    await scene.run(asked(job, now), now=now)
    return [name for name in names if name in OWN]


async def test_other_jobs_run_the_statements_that_they_always_ran(scene, names):
    job = await scene.job()
    assert await own_statements(scene, names, job, T0) == []
    await scene.fire(T0 + 60_000)
    await scene.succeed(await scene.claim(T0 + 60_000), T0 + 60_001)
    assert OWN.isdisjoint(names)


@pytest.mark.parametrize("unless", ["pending", "running"])
async def test_a_new_run_takes_two_and_a_known_one_takes_one(scene, names, unless):
    job = await scene.job(unless=unless)
    assert await own_statements(scene, names, job, T0) == ["same_live", "add_unique"]
    assert await own_statements(scene, names, job, T0 + 1) == ["same_live"]


async def test_those_that_have_ended_are_looked_at_once(scene, names):
    job = await scene.job(unless="running")
    for turn in range(3):
        now = T0 + turn * 1000
        found = await own_statements(scene, names, job, now)
        assert found == ["same_live", *["note_ended"] * (turn > 0), "add_unique"]
        await scene.succeed(await scene.claim_one(now), now)
    [row] = await scene.store.database.read(
        lambda session: session.query("SELECT count(*) FROM unique_run WHERE ended = 0")
    )
    assert row[0] == 1


async def test_claims_and_ends_of_such_runs_are_those_of_others(scene, names):
    job = await scene.job(unless="running")
    await scene.run(asked(job, T0))
    names.clear()
    await scene.succeed(await scene.claim_one(T0), T0 + 1)
    assert OWN.isdisjoint(names)
