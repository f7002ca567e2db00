"""New jobs take one statement, and texts come back as they were given."""

import pytest

from tickwell.domain.trigger import OnDemand
from tickwell.errors import JobExists
from tickwell.stores.postgres import PostgresStore
from tickwell.stores.postgres.session import Session
from tickwell.testing.contract.builders import a_job

TEXTS = [
    "",
    "null",
    '"',
    "\\",
    '\\"',
    "a\nb\tc",
    "\\n",
    "{a,b}",
    " x ",
    "ü",
    "\N{GRINNING FACE}",
    "\x01",
    "\x1f",
]


@pytest.fixture
def asked(monkeypatch):
    """The names of statements, in their order."""
    names = []
    rows = Session.rows

    async def noted(self, name, *parameters):
        names.append(name)
        return await rows(self, name, *parameters)

    monkeypatch.setattr(Session, "rows", noted)
    return names


async def test_texts_come_back_as_they_were_given(scene, store):
    jobs = [
        a_job(
            trigger=OnDemand(), description=text, tags=(text, "b"), payload=[text], app=text or None
        )
        for text in TEXTS
    ]
    await scene.add(*jobs)
    other = PostgresStore(store.location)  # which has none of them in its memory
    await other.open()
    try:
        found = await other.get_jobs("default", [job.id for job in jobs])
    finally:
        await other.close()
    assert [entry.job for entry in found] == jobs


async def test_new_jobs_take_one_statement(scene, asked):
    await scene.add(a_job(), a_job(dedupe_key="k"))
    assert asked == ["add_jobs"]


async def test_what_is_taken_is_found_as_before(scene, store):
    first, keyed = a_job(name="a"), a_job(name="b", dedupe_key="k")
    await scene.add(first, keyed)
    with pytest.raises(JobExists):
        await scene.add(a_job(name="c"), a_job(name="a"))
    with pytest.raises(JobExists):
        await scene.add(a_job(name="d"), a_job(name="d"))
    again = a_job(name="e", dedupe_key="k")
    answers = await scene.add(a_job(name="f"), again, first)
    assert len(await store.get_jobs("default", ["a", "b", "f"])) == 3
    assert await store.get_jobs("default", ["c", "d", "e"]) == []
    assert [entry.job.name for entry in answers] == ["f", "b", "a"]
