"""What cannot be used is refused in one sentence, and nothing is written."""

import asyncio

import pytest

from tests.faults.postgres.victim import Victim
from tests.servers.postgres import server
from tickwell.errors import SchemaTooNew, StoreCorrupt, StoreRefused, StoreUnavailable
from tickwell.stores.postgres import PostgresStore, migrate
from tickwell.stores.postgres import server as checks
from tickwell.stores.postgres.database import Database


async def refusal(url, error=StoreRefused):
    store = PostgresStore.from_url(url)
    with pytest.raises(error) as refused:
        await store.open()
    words = str(refused.value)
    assert "\n" not in words
    assert "secret" not in words
    return words


async def works(url):
    store = PostgresStore.from_url(url)
    await store.open()
    assert await store.ping() > 0
    await store.close()


@pytest.fixture
async def guest(owner):
    """Somebody with no rights but to come in."""
    await owner.execute("DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN PASSWORD 'guest'")
    yield server().url.replace("tickwell:secret@", "guest:guest@")
    await owner.execute("DROP OWNED BY guest; DROP ROLE guest")


@pytest.fixture
async def schema(owner):
    """The name of a schema that is not there, and gone afterwards."""
    await owner.execute("DROP SCHEMA IF EXISTS odd CASCADE")
    yield "odd"
    await owner.execute("DROP SCHEMA IF EXISTS odd CASCADE")


async def tables(owner, schema):
    rows = await owner.fetch("SELECT tablename FROM pg_tables WHERE schemaname = $1", schema)
    return {name for (name,) in rows}


async def test_a_wrong_password():
    words = await refusal(server().url.replace("secret@", "wrong@"))
    assert "does not accept the password; check user and password in the URL" in words


async def test_a_database_that_is_not_there():
    assert "has no such database" in await refusal(server().url.rpartition("/")[0] + "/nowhere")


async def test_a_server_that_is_not_there():
    words = await refusal("postgresql://127.0.0.1:1/x", StoreUnavailable)
    assert "check that it runs and can be reached" in words


async def test_a_user_who_may_not_create_the_schema(guest, owner, schema):
    words = await refusal(f"{guest}?schema={schema}")
    assert 'CREATE SCHEMA "odd" AUTHORIZATION "guest"' in words


async def test_a_user_who_may_not_use_the_schema(guest, owner, schema):
    await owner.execute("CREATE SCHEMA odd")
    assert 'GRANT USAGE ON SCHEMA "odd" TO "guest"' in await refusal(f"{guest}?schema={schema}")


async def test_a_user_who_may_not_create_tables(guest, owner, schema):
    await owner.execute("CREATE SCHEMA odd; GRANT USAGE ON SCHEMA odd TO guest")
    assert 'GRANT CREATE ON SCHEMA "odd" TO "guest"' in await refusal(f"{guest}?schema={schema}")


@pytest.mark.parametrize(
    "remedy",
    [
        'CREATE SCHEMA "odd" AUTHORIZATION "guest"',
        'CREATE SCHEMA odd; GRANT USAGE, CREATE ON SCHEMA "odd" TO "guest"',
    ],
)
async def test_who_may_make_no_schema_needs_none_where_one_is_given(guest, owner, schema, remedy):
    await owner.execute(remedy)
    await works(f"{guest}?schema={schema}")


async def test_the_remedies_that_are_named_help(guest, owner, schema):
    """A user who lacks everything is led to work, grant by grant."""
    await works(f"{server().url}?schema={schema}")
    url = f"{guest}?schema={schema}"
    words = await refusal(url)
    await owner.execute('GRANT USAGE ON SCHEMA "odd" TO "guest"')
    words = await refusal(url)
    assert "guest has no" in words
    assert "on the table attempt" in words
    await owner.execute(words[words.index("GRANT") :])
    await works(url)


async def test_a_user_who_may_not_come_into_the_database(guest, owner):
    await owner.execute("DROP DATABASE IF EXISTS closed")
    await owner.execute("CREATE DATABASE closed")
    await owner.execute("REVOKE CONNECT ON DATABASE closed FROM PUBLIC")
    url = guest.rpartition("/")[0] + "/closed"
    try:
        words = await refusal(url)
        assert 'GRANT CONNECT ON DATABASE "closed" TO "guest"' in words
        await owner.execute(words[words.index("GRANT") :])
        assert "may not create the schema tickwell" in await refusal(url)
    finally:
        await owner.execute("DROP DATABASE closed WITH (FORCE)")


async def test_a_name_is_quoted_in_the_remedy(owner, schema):
    await works(f"{server().url}?schema={schema}")
    await owner.execute("""CREATE ROLE "odd""one" LOGIN PASSWORD 'odd'""")
    url = server().url.replace("tickwell:secret@", "odd%22one:odd@") + f"?schema={schema}"
    try:
        words = await refusal(url)
        await owner.execute(words[words.index("GRANT") :])
        await works(url)
    finally:
        await owner.execute('DROP OWNED BY "odd""one"; DROP ROLE "odd""one"')


async def test_a_right_that_is_taken_away_later(guest, owner, schema):
    await works(f"{server().url}?schema={schema}")
    await owner.execute("GRANT USAGE ON SCHEMA odd TO guest")
    await owner.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA odd TO guest")
    store = PostgresStore.from_url(f"{guest}?schema={schema}")
    await store.open()
    await owner.execute("REVOKE SELECT ON odd.worker FROM guest")
    with pytest.raises(StoreRefused, match="tickwell doctor names the GRANT that helps"):
        await store.list_workers()
    await store.close()


async def test_who_may_not_change_the_tables_is_told_who_does(
    guest, owner, schema, monkeypatch, tmp_path
):
    await works(f"{server().url}?schema={schema}")
    await owner.execute("GRANT USAGE ON SCHEMA odd TO guest")
    await owner.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA odd TO guest")
    step = tmp_path / "9999_newer.sql"
    step.write_text("-- serves: 1\nALTER TABLE tickwell.cursor ADD COLUMN newer integer;\n")
    monkeypatch.setattr(migrate, "STEPS", [*migrate.STEPS, step])
    words = await refusal(f"{guest}?schema={schema}")
    assert "let its owner run: tickwell store migrate" in words
    await works(f"{server().url}?schema={schema}")
    await works(f"{guest}?schema={schema}")


async def test_somebody_elses_tables(owner, schema):
    await owner.execute("CREATE SCHEMA odd; CREATE TABLE odd.job (name text)")
    words = await refusal(f"{server().url}?schema={schema}")
    assert "has a table job that is not Tickwell's; name another schema" in words
    assert await tables(owner, schema) == {"job"}


@pytest.mark.parametrize("kind", ["text", "integer"])
async def test_somebody_elses_meta_table(owner, schema, kind):
    await owner.execute(f"CREATE SCHEMA odd; CREATE TABLE odd.meta (name {kind}, value {kind})")
    assert "not Tickwell's" in await refusal(f"{server().url}?schema={schema}")
    assert await tables(owner, schema) == {"meta"}


async def test_somebody_elses_index(owner, schema):
    await owner.execute("CREATE SCHEMA odd; CREATE TABLE odd.other (name text)")
    await owner.execute("CREATE INDEX queue_run ON odd.other (name)")
    words = await refusal(f"{server().url}?schema={schema}")
    assert "has another table or type under a name of Tickwell's" in words
    assert await tables(owner, schema) == {"other"}


async def test_somebody_elses_type(owner, schema):
    await owner.execute("CREATE SCHEMA odd; CREATE TYPE odd.execution AS ENUM ('one')")
    words = await refusal(f"{server().url}?schema={schema}")
    assert "has another table or type under a name of Tickwell's" in words
    assert await tables(owner, schema) == set()


async def test_a_read_only_server(owner, schema):
    await owner.execute("CREATE ROLE reader LOGIN PASSWORD 'reader' SUPERUSER")
    try:
        await owner.execute("ALTER ROLE reader SET default_transaction_read_only = on")
        url = server().url.replace("tickwell:secret@", "reader:reader@")
        words = await refusal(f"{url}?schema={schema}")
        assert "is read-only for reader" in words
        assert await tables(owner, schema) == set()
        await owner.execute(words[words.index("ALTER") :])
        await works(f"{url}?schema={schema}")
    finally:
        await owner.execute("REASSIGN OWNED BY reader TO tickwell; DROP ROLE reader")


def test_a_replica():
    replica = Victim()
    replica.become_replica()
    words = asyncio.run(refusal(f"{replica.url}?schema=odd"))
    assert "is read-only, as a replica is; name the primary server" in words
    two = replica.url.replace(f":{replica.port}", f":{replica.port},127.0.0.1:1")
    words = asyncio.run(refusal(two, StoreUnavailable))
    assert "does not answer" in words


async def test_a_server_too_old(monkeypatch, owner, schema):
    monkeypatch.setattr(checks, "OLDEST", 990_000)
    assert "12 or newer is needed" in await refusal(f"{server().url}?schema={schema}")
    assert await tables(owner, schema) == set()


@pytest.mark.parametrize("pooler", ["none", "transaction"])
async def test_a_server_too_old_for_our_settings(monkeypatch, owner, schema, pooler):
    """It refuses the connection, before anybody can ask for its version."""
    settings = Database._settings
    monkeypatch.setattr(Database, "_settings", lambda self: {**settings(self), "newer": "on"})
    words = await refusal(f"{server().url}?schema={schema}&pooler={pooler}")
    assert "12 or newer is needed" in words
    assert await tables(owner, schema) == set()


async def test_options_that_the_driver_does_not_take():
    assert "must be one of: disable," in await refusal(f"{server().url}?sslmode=much")
    words = await refusal(f"{server().url}?target_session_attrs=read-only", StoreUnavailable)
    assert "does not match target_session_attrs in the URL" in words


async def test_another_encoding(owner):
    await owner.execute("DROP DATABASE IF EXISTS latin")
    await owner.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    try:
        words = await refusal(server().url.rpartition("/")[0] + "/latin")
    finally:
        await owner.execute("DROP DATABASE latin")
    assert "is encoded in LATIN1; create a database with ENCODING 'UTF8'" in words


async def test_a_newer_schema_is_used_as_long_as_it_serves_us(owner, schema, monkeypatch):
    url = f"{server().url}?schema={schema}"
    store = PostgresStore.from_url(url)
    await store.open()
    await store.close()
    known = len(migrate.STEPS)
    await owner.execute(f"UPDATE odd.meta SET value = '{known + 1}' WHERE name = 'schema'")
    await store.open()
    await store.close()
    await owner.execute(f"UPDATE odd.meta SET value = '{known + 1}' WHERE name = 'serves'")
    words = await refusal(url, SchemaTooNew)
    assert f"has schema {known + 1}, this Tickwell knows {known}" in words


async def test_a_table_that_is_gone(owner, schema):
    store = PostgresStore.from_url(f"{server().url}?schema={schema}")
    await store.open()
    await owner.execute("DROP TABLE odd.worker")
    with pytest.raises(StoreCorrupt, match="are damaged; restore a backup"):
        await store.list_workers()
    await store.close()


async def test_a_store_that_is_not_open():
    store = PostgresStore.from_url(server().url)
    with pytest.raises(StoreUnavailable, match="call open"):
        await store.ping()
