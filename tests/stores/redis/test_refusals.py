"""What cannot be used is refused in one sentence, and nothing is written."""

import asyncio

import pytest
from redis import exceptions

from tests.servers.private import free_port
from tests.servers.redis import server, start
from tests.servers.redis_keys import client
from tickwell.domain.promises import REDIS_ALWAYS, REDIS_EVERYSEC, REDIS_VOLATILE
from tickwell.errors import SchemaTooNew, StoreRefused, StoreUnavailable
from tickwell.ports.records import JobFilter
from tickwell.stores.redis import RedisStore
from tickwell.stores.redis.errors import translate
from tickwell.testing.contract.scene import Scene
from tickwell.testing.verify.orders import Orders
from tickwell.testing.verify.run import verify


async def refusal(url, error=StoreRefused):
    store = RedisStore.from_url(url)
    with pytest.raises(error) as refused:
        await store.open()
    await store.close()
    words = str(refused.value)
    assert "\n" not in words
    assert "secret" not in words
    return words


async def promised(*options):
    store = RedisStore.from_url(start(*options).url)
    await store.open()
    await store.close()
    return store.promises


@pytest.fixture(scope="module")
def locked():
    return start("--requirepass", "secret", "--databases", "2")


async def test_a_wrong_password(locked):
    words = await refusal(locked.url.replace("//", "//:secret-but-wrong@"))
    assert "does not accept the password; check user and password in the URL" in words


async def test_no_password(locked):
    assert "wants a password; put it into the URL" in await refusal(locked.url)


async def test_a_database_that_is_not_there(locked):
    words = await refusal(locked.url.replace("//", "//:secret@")[:-1] + "7")
    assert "has no database of this number; name another in the URL" in words


async def test_a_server_that_is_not_there():
    words = await refusal("redis://127.0.0.1:1", StoreUnavailable)
    assert "check that it runs and can be reached" in words


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
async def test_a_server_that_throws_keys_away(policy):
    made = start("--maxmemory", "100mb", "--maxmemory-policy", policy)
    words = await refusal(made.url)
    assert f"maxmemory-policy {policy}" in words
    assert "CONFIG SET maxmemory-policy noeviction" in words
    with client(made) as keys:
        with pytest.raises(StoreRefused, match=r"noeviction$"):
            await verify(Orders(url=made.url, suites=("contention",)), lambda _: None)
        assert keys.dbsize() == 0
        keys.config_set("maxmemory-policy", "noeviction")
    store = RedisStore.from_url(made.url)
    await store.open()
    await store.close()


async def test_a_replica():
    made = start("--replicaof", "127.0.0.1", str(server().port or 1))
    assert "is a replica; name the primary server" in await refusal(made.url)


async def test_a_server_that_becomes_a_replica():
    """As after a fail-over: said by every write, until the URL leads to the primary again."""
    made = start()
    store = RedisStore.from_url(made.url)
    await store.open()
    with client(made) as keys:
        keys.replicaof("127.0.0.1", 1)  # nobody is there, so what it has stays
        with pytest.raises(StoreRefused, match="is a read-only replica; name the primary server"):
            await Scene(store).job("first")
        keys.replicaof("NO", "ONE")
    await Scene(store).job("second")
    assert [entry.job.name for entry in (await store.list_jobs(JobFilter())).items] == ["second"]
    await store.close()


async def test_a_node_of_a_cluster():
    made = start("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
    assert "is a cluster node; name a standalone server" in await refusal(made.url)


async def test_a_server_too_old():
    """None is installed: one that says so, and says nothing else."""

    async def answer(reader, writer):
        while line := await reader.readline():
            if line.strip().upper() == b"INFO":
                text = b"redis_version:6.2.14\r\nrole:master\r\n"
                writer.write(b"$%d\r\n%s\r\n" % (len(text), text))
            elif line.strip().upper() in {b"SELECT", b"CLIENT"}:
                writer.write(b"+OK\r\n")
        writer.close()
        await writer.wait_closed()
        gone.set()

    gone = asyncio.Event()
    old = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = old.sockets[0].getsockname()[1]
    words = await refusal(f"redis://127.0.0.1:{port}")
    assert "is Redis 6.2.14; 7.0 or newer is needed" in words
    await gone.wait()
    old.close()


async def test_a_key_of_somebody_elses(keys):
    keys.set("{odd}:epoch", "mine")
    assert "set another ?prefix=" in await refusal(f"{server().url}?prefix=odd")
    keys.delete("{odd}:epoch")
    keys.rpush("{odd}:epoch", "mine")
    assert "set another ?prefix=" in await refusal(f"{server().url}?prefix=odd")
    keys.delete("{odd}:epoch")


async def test_keys_of_a_newer_version(keys):
    keys.set("{newer}:epoch", "99:abc")
    words = await refusal(f"{server().url}?prefix=newer", SchemaTooNew)
    assert "has schema 99, this Tickwell knows 1; upgrade Tickwell" in words
    keys.delete("{newer}:epoch")


async def test_a_user_without_rights(keys):
    keys.acl_setuser("guest", enabled=True, passwords=["+guest"], commands=["+info", "+select"])
    words = await refusal(server().url.replace("//", "//guest:guest@"))
    assert "grant this user the commands and keys of Tickwell" in words
    keys.acl_deluser("guest")


async def test_what_is_promised_depends_on_the_settings():
    assert await promised("--appendonly", "yes", "--appendfsync", "always") == REDIS_ALWAYS
    assert await promised("--appendonly", "yes") == REDIS_EVERYSEC
    assert await promised() == REDIS_VOLATILE


@pytest.mark.parametrize(("scheme", "hints"), [("redis", False), ("rediss", True)])
def test_a_server_that_may_have_no_tls_is_named_as_such(scheme, hints):
    """It waits for more when it is offered a handshake, so the driver reports a timeout."""
    error = translate(exceptions.TimeoutError("Timeout connecting to server"), f"{scheme}://db/0")
    assert ("if it has no TLS, use redis://" in str(error)) is hints


CUT = "unable to perform operation on <TCPTransport closed=True>; the handler is closed"


@pytest.mark.parametrize(
    ("words", "raised"), [(CUT, StoreUnavailable), ("no running event loop", RuntimeError)]
)
async def test_a_connection_that_uvloop_finds_cut_is_a_store_that_is_away(
    store, monkeypatch, words, raised
):
    async def send(*_):
        raise RuntimeError(words)

    with monkeypatch.context() as patches:
        patches.setattr(store.client, "_send", send)
        for ask in (store.ping, store.list_workers):
            with pytest.raises(raised, match=words if raised is RuntimeError else "check that it"):
                await ask()
    await store.ping()
