"""What cannot be used is refused in one sentence, and nothing is written."""

import pytest

from tests.servers.mariadb import server
from tests.servers.mariadb_tables import run, url
from tickwell.errors import SchemaTooNew, StoreCorrupt, StoreRefused, StoreUnavailable
from tickwell.ports.records import JobFilter
from tickwell.stores.mysql import MysqlStore, migrate, session
from tickwell.stores.mysql import server as mysql_server
from tickwell.testing.contract.scene import Scene
from tickwell.testing.verify.orders import Orders
from tickwell.testing.verify.run import verify

PREFIX = "odd_"


async def refusal(place, error=StoreRefused):
    store = MysqlStore.from_url(place)
    with pytest.raises(error) as refused:
        await store.open()
    words = str(refused.value)
    assert "\n" not in words
    assert "secret" not in words
    return words


async def odd_tables():
    rows = await run(
        "SELECT table_name FROM information_schema.tables"
        " WHERE table_schema = DATABASE() AND table_name LIKE 'odd\\_%%'"
    )
    return {name for (name,) in rows}


async def drop_odd():
    names = await odd_tables()
    if names:
        await run(f"DROP TABLE {', '.join(names)}")


@pytest.fixture
async def odd():
    """The URL of tables that are not there, and gone afterwards."""
    await drop_odd()
    yield url(PREFIX)
    await drop_odd()


@pytest.fixture
async def guest(odd):
    """Somebody with no rights but to come in."""
    await run("DROP USER IF EXISTS guest@'127.0.0.1'")
    await run("CREATE USER guest@'127.0.0.1' IDENTIFIED BY 'guest'")
    yield odd.replace("tickwell:secret@", "guest:guest@")
    await run("DROP USER guest@'127.0.0.1'")


async def test_a_wrong_password():
    words = await refusal(server().url.replace("secret@", "wrong@"))
    assert "does not accept this user and password; check both in the URL" in words


async def test_a_database_that_is_not_there():
    assert "has no such database" in await refusal(server().url.rpartition("/")[0] + "/nowhere")


async def test_a_server_that_is_not_there():
    words = await refusal("mysql://127.0.0.1:1/x", StoreUnavailable)
    assert "check that it runs and can be reached" in words


async def test_a_user_who_may_not_use_the_database(guest):
    words = await refusal(guest)
    assert "refuses: Access denied for user 'guest'@'127.0.0.1' to database 'tickwell'" in words
    assert (
        "GRANT CREATE, ALTER, SELECT, INSERT, UPDATE, DELETE ON `tickwell`.* TO 'guest'@'127.0.0.1'"
        in words
    )


async def test_a_user_who_may_not_create_tables(guest):
    await run("GRANT SELECT ON tickwell.* TO guest@'127.0.0.1'")
    words = await refusal(guest)
    assert "CREATE command denied" in words
    assert "GRANT CREATE, ALTER, SELECT, INSERT, UPDATE, DELETE ON `tickwell`.* TO" in words
    assert await odd_tables() == set()


async def test_a_verification_without_a_place_leaves_nothing(guest):
    """It has another name each time, so that the right to this one would not help."""
    await run("GRANT SELECT ON tickwell.* TO guest@'127.0.0.1'")
    said: list[str] = []
    with pytest.raises(StoreRefused, match="or verify as a user who may create and remove"):
        await verify(Orders(url=guest, suites=("contention",)), said.append)
    assert len(said) == 1
    assert "could not be removed" not in said[0]


async def test_the_remedies_that_are_named_help(guest, odd):
    """A user who may only look is led to work."""
    mine = MysqlStore.from_url(odd)
    await mine.open()
    await mine.close()
    await run("GRANT SELECT ON tickwell.* TO guest@'127.0.0.1'")
    words = await refusal(guest)
    assert "INSERT command denied to user 'guest'@'127.0.0.1' for table" in words
    await run(words[words.index("GRANT") :])
    theirs = MysqlStore.from_url(guest)
    await theirs.open()
    assert await theirs.ping() > 0
    await theirs.close()


async def test_somebody_elses_tables(odd):
    await run("CREATE TABLE odd_job (name text)")
    words = await refusal(odd)
    assert "has a table odd_job that is not Tickwell's; name another prefix" in words
    assert await odd_tables() == {"odd_job"}


async def test_somebody_elses_meta_table(odd):
    await run("CREATE TABLE odd_meta (k text)")
    assert "not Tickwell's" in await refusal(odd)
    assert await odd_tables() == {"odd_meta"}


async def test_a_read_only_server(odd):
    await run("SET GLOBAL read_only = ON")
    try:
        words = await refusal(odd)
    finally:
        await run("SET GLOBAL read_only = OFF")
    assert "is read-only, as a replica is; name the primary server" in words
    assert await odd_tables() == set()


async def test_a_server_that_becomes_read_only(guest):
    """As after a fail-over: said by every write, until the URL leads to the primary again."""
    await run("GRANT ALL ON tickwell.* TO guest@'127.0.0.1'")
    store = MysqlStore.from_url(guest)
    await store.open()
    await run("SET GLOBAL read_only = ON")
    try:
        with pytest.raises(StoreRefused, match="is read-only, as a replica is; name the primary"):
            await Scene(store).job("first")
    finally:
        await run("SET GLOBAL read_only = OFF")
    await Scene(store).job("second")
    assert [entry.job.name for entry in (await store.list_jobs(JobFilter())).items] == ["second"]
    await store.close()


async def test_a_server_too_old(monkeypatch, odd):
    monkeypatch.setattr(mysql_server, "OLDEST_MARIADB", (99, 0, 0))
    assert "MariaDB 10.6 or newer is needed" in await refusal(odd)
    assert await odd_tables() == set()


async def test_a_setup_that_was_interrupted_is_done_again(odd, monkeypatch):
    real, made = session.Session.send, []

    async def send(session, text):
        if text.startswith("CREATE TABLE"):
            made.append(text)
            if len(made) == 5:
                raise OSError("the way is cut")
        return await real(session, text)

    store = MysqlStore.from_url(odd)
    with monkeypatch.context() as patches:
        patches.setattr(session.Session, "send", send)
        with pytest.raises(StoreUnavailable):
            await store.open()
    assert len(await odd_tables()) == 4
    await store.open()
    await store.close()
    assert len(await odd_tables()) == 15


async def test_a_newer_schema_is_used_as_long_as_it_serves_us(odd):
    store = MysqlStore.from_url(odd)
    await store.open()
    await store.close()
    known = len(migrate.STEPS)
    await run(f"UPDATE odd_meta SET value = '{known + 1}' WHERE name = 'schema'")
    await store.open()
    await store.close()
    await run(f"UPDATE odd_meta SET value = '{known + 1}' WHERE name = 'serves'")
    words = await refusal(odd, SchemaTooNew)
    assert f"has schema {known + 1}, this Tickwell knows {known}" in words


async def test_a_table_that_is_gone(odd):
    store = MysqlStore.from_url(odd)
    await store.open()
    await run("DROP TABLE odd_worker")
    with pytest.raises(StoreCorrupt, match="are damaged; restore a backup"):
        await store.list_workers()
    await store.close()


async def test_an_index_that_is_gone(odd):
    store = MysqlStore.from_url(odd)
    await store.open()
    await run("ALTER TABLE odd_job DROP INDEX job_app")
    with pytest.raises(StoreCorrupt, match="Key 'job_app' doesn't exist in table 'job'"):
        await store.list_jobs(JobFilter(app="shop"))
    assert (await store.list_jobs(JobFilter())).items == []
    await store.close()


async def test_a_store_that_is_not_open():
    store = MysqlStore.from_url(server().url)
    with pytest.raises(StoreUnavailable, match="call open"):
        await store.ping()
