"""What cannot be ours is refused with one sentence, and nothing is written."""

import gc
import warnings

import pytest

from tests.servers.mongo import server, start, start_set
from tickwell.errors import InvalidSetting, SchemaTooNew, StoreRefused, StoreUnavailable
from tickwell.stores.mongo import MongoStore
from tickwell.stores.mongo import server as checks
from tickwell.testing.verify.scratch.mongo import MongoScratch
from tickwell.wiring import make_store


async def refusal(url, kind=StoreRefused):
    store = MongoStore.from_url(url)
    with pytest.raises(kind) as caught:
        await store.open()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture(autouse=True)
def no_forgotten_sockets():
    """The driver forgets a socket that it was connecting when it was closed: not a later test's."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def fresh():
    """A database that is not there."""
    with server().client() as client:
        client.drop_database("fresh")
        yield client["fresh"]
        client.drop_database("fresh")


@pytest.fixture(scope="module")
def guarded():
    """A server that wants to know who is there; one user may read, another everything."""
    made = start()
    with made.client() as client:
        client.admin.command("createUser", "root", pwd="root", roles=["root"])
        reading = [{"role": "read", "db": "fresh"}]
        client["fresh"].command("createUser", "reader", pwd="secret", roles=reading)
        writing = [{"role": "readWrite", "db": "fresh"}]
        client["fresh"].command("createUser", "writer", pwd="secret", roles=writing)
    made.process.terminate()
    made.process.wait()
    made.options.append("--auth")
    made.start()
    return made


def as_user(made, user, password="secret"):
    return made.url("fresh").replace("//", f"//{user}:{password}@")


async def test_a_server_that_is_too_old(fresh, monkeypatch):
    monkeypatch.setattr(checks, "OLDEST", (99, 0))
    said = await refusal(server().url("fresh"))
    assert "is MongoDB 6.0" in said
    assert fresh.list_collection_names() == []


async def test_a_wrong_password(guarded):
    said = await refusal(as_user(guarded, "writer", "wrong"))
    assert "does not accept the password" in said
    assert "wrong" not in said


async def test_missing_rights_are_named_with_their_remedy(guarded):
    said = await refusal(as_user(guarded, "reader"))
    assert "reader may not insert in fresh" in said
    assert 'db.grantRolesToUser("reader", [{role: "readWrite", db: "fresh"}])' in said


async def test_nobody_in_particular(guarded):
    assert "grant this user readWrite" in await refusal(guarded.url("fresh"))


async def test_whoever_may_write_may_come_in(guarded):
    store = MongoStore.from_url(as_user(guarded, "writer"))
    await store.open()
    assert await store.ping() > 0
    await store.close()


async def test_a_scratch_place_takes_rights_of_its_own(guarded):
    """A verification that could not remove its database does not make one."""
    place = MongoScratch(as_user(guarded, "writer"), "tickwell_verify_1")
    with pytest.raises(StoreRefused, match="roles readWriteAnyDatabase and dbAdminAnyDatabase"):
        await place.drop()


async def test_a_secondary_is_read_only():
    _, secondary = start_set(2)
    said = await refusal(secondary.url("fresh", directConnection="true"))
    assert "is read-only, as a secondary is; name the primary" in said


async def test_collections_of_somebody_else(fresh):
    fresh["jobs"].insert_one({"title": "gardener"})
    said = await refusal(server().url("fresh"))
    assert "has a collection jobs that is not Tickwell's; name another database" in said
    assert fresh.list_collection_names() == ["jobs"]


async def test_an_index_with_other_options_is_named(fresh):
    store = MongoStore.from_url(server().url("fresh"))
    await store.open()
    await store.close()
    fresh["jobs"].drop_index("due")
    fresh["jobs"].create_index([("next", -1)], name="due")
    said = await refusal(server().url("fresh"))
    assert "the index due of jobs has other keys or options" in said
    assert 'db.jobs.dropIndex("due")' in said
    fresh["jobs"].drop_index("due")
    await store.open()
    await store.close()
    assert "due" in fresh["jobs"].index_information()


async def test_an_index_that_is_missing_or_another_is_found_while_others_work(fresh):
    store = MongoStore.from_url(server().url("fresh"))
    await store.open()
    assert await store.flaws() == []
    fresh["executions"].drop_index("claim")
    fresh["jobs"].drop_index("due")
    fresh["jobs"].create_index([("next", -1)], name="due")
    looks = MongoStore.from_url(server().url("fresh"))
    looks.makes = False
    await looks.open()  # whoever only looks makes none
    found = [(each.text, each.remedy) for each in await looks.flaws()]
    assert found == [
        ("the index claim of executions is missing", "Create it: tickwell store migrate"),
        (
            "the index due of jobs has other keys or options than Tickwell's",
            'Recreate it: db.jobs.dropIndex("due"), then tickwell store migrate',
        ),
    ]
    await looks.close()
    await store.close()


async def test_what_a_newer_version_has_written(fresh):
    fresh["meta"].insert_one({"_id": "tickwell", "application": "tickwell", "schema": 99})
    said = await refusal(server().url("fresh"), SchemaTooNew)
    assert "has schema 99" in said


async def test_nobody_is_there():
    url = "mongodb://127.0.0.1:1/fresh?serverSelectionTimeoutMS=200"
    said = await refusal(url, StoreUnavailable)
    assert "mongodb://127.0.0.1:1/fresh does not answer" in said


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mongodb://host/a.b", "'a.b' cannot be the name of a database"),
        ("mongodb://host/admin", "'admin' cannot be the name of a database"),
        ("mongodb://host/x?nonsense=1", "nonsense"),
        ("mongodb://host:99999/x", "the port is no number"),
        ("mongodb:///x", "host"),
        ("mongodb://host/x?readPreference=secondary", "leave readPreference out"),
    ],
)
def test_urls(url, words):
    with pytest.raises(InvalidSetting) as caught:
        make_store(url)
    assert words in str(caught.value)


def test_names_have_no_credentials():
    store = make_store("mongodb://ann:secret@one:27017,two:27018/jobs?replicaSet=rs0")
    assert store.name == "mongodb://one:27017,two:27018/jobs"
    assert make_store("mongodb://one").name == "mongodb://one/tickwell"
