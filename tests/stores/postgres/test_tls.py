"""TLS as the URL asks for it: used, checked, and what is wrong with it named."""

import asyncio
import os
import shutil
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trustme

from tests.servers.postgres import server, start
from tests.stores.postgres.test_refusals import refusal
from tickwell.errors import StoreUnavailable
from tickwell.stores.postgres import PostgresStore
from tickwell.stores.postgres import url as urls

IN_USE = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(scope="module")
def secured(authority):
    """The URL of a server that has a certificate for the name localhost."""
    with TemporaryDirectory(prefix="tickwell-certificates-") as name:
        chain, key = Path(name, "chain.pem"), Path(name, "key.pem")
        issued = authority.issue_cert("localhost")
        issued.cert_chain_pems[0].write_to_path(chain)
        issued.private_key_pem.write_to_path(key)
        key.chmod(0o600)
        if os.getuid() == 0:  # who is not the server
            for path in (name, chain, key):
                shutil.chown(path, "postgres")
        yield start("ssl=on", f"ssl_cert_file={chain}", f"ssl_key_file={key}").url


@pytest.fixture
def trusted(authority, tmp_path):
    path = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(path)
    return path


async def test_a_certificate_of_the_host_by_a_trusted_authority(secured, trusted):
    url = secured.replace("127.0.0.1", "localhost")
    store = PostgresStore.from_url(f"{url}?sslmode=verify-full&sslrootcert={trusted}")
    await store.open()
    assert await store.database.write_one(lambda session: session.connection.fetchval(IN_USE))
    await store.close()


async def test_a_certificate_of_another_host(secured, trusted):
    words = await refusal(f"{secured}?sslmode=verify-full&sslrootcert={trusted}")
    assert "has a certificate that is not accepted (IP address mismatch" in words


async def test_a_certificate_by_an_authority_that_is_not_trusted(secured, tmp_path):
    path = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(path)
    words = await refusal(f"{secured}?sslmode=verify-ca&sslrootcert={path}")
    assert "has a certificate that is not accepted" in words


async def test_a_server_without_tls():
    words = await refusal(f"{server().url}?sslmode=require")
    assert "has no TLS, which servers on other machines need" in words


@pytest.fixture
def elsewhere(secured, monkeypatch, tmp_path):
    """The same server by the name in its certificate, as if it were another machine's."""
    monkeypatch.setattr(urls, "is_local", lambda _host: False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return secured.replace("127.0.0.1", "localhost")


async def test_a_server_on_another_machine_is_verified_unless_the_url_says_otherwise(
    elsewhere, trusted
):
    assert "has a certificate that is not accepted" in await refusal(elsewhere)
    words = await refusal(f"{elsewhere}?sslrootcert={trusted}".replace("localhost", "127.0.0.1"))
    assert "IP address mismatch" in words
    for options in (f"sslrootcert={trusted}", "sslmode=require"):
        store = PostgresStore.from_url(f"{elsewhere}?{options}")
        await store.open()
        assert await store.database.write_one(lambda session: session.connection.fetchval(IN_USE))
        await store.close()


async def test_a_certificate_of_our_own(secured, authority, tmp_path):
    chain, key, other = tmp_path / "chain.pem", tmp_path / "key.pem", tmp_path / "other.pem"
    issued = authority.issue_cert("client")
    issued.cert_chain_pems[0].write_to_path(chain)
    issued.private_key_pem.write_to_path(key)
    authority.issue_cert("client").private_key_pem.write_to_path(other)
    words = await refusal(f"{secured}?sslmode=require&sslcert={chain}&sslkey={other}")
    assert "(KEY_VALUES_MISMATCH); check sslrootcert, sslcert, sslkey and sslpassword" in words
    store = PostgresStore.from_url(f"{secured}?sslmode=require&sslcert={chain}&sslkey={key}")
    await store.open()
    await store.close()


async def test_an_authority_that_is_not_named(secured, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    words = await refusal(f"{secured}?sslmode=verify-full")
    assert "does not exist or cannot be accessed; correct the URL" in words


@asynccontextmanager
async def ending(farewell):
    """The URL of a server that is asked for TLS and ends the connection, all of it closed after."""
    gone = asyncio.Event()

    async def end(reader, writer):
        with suppress(OSError, asyncio.IncompleteReadError):
            await reader.readexactly(8)
            await farewell(reader, writer)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        gone.set()

    async with await asyncio.start_server(end, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"postgresql://ann@127.0.0.1:{port}/d?sslmode=require"
        await gone.wait()


async def test_a_server_that_ends_tls_as_it_begins():
    """It may have too much to do, and no file is wrong."""

    async def say_goodbye(reader, writer):
        writer.write(b"S")
        await reader.read(1)
        writer.write(bytes.fromhex("15030300020100"))  # close_notify
        await reader.read()

    async with ending(say_goodbye) as url:
        words = await refusal(url, StoreUnavailable)
    assert "refuses TLS (TLS/SSL connection has been closed" in words


async def test_a_server_that_hangs_up_on_a_certificate_of_our_own(authority, tmp_path):
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    issued = authority.issue_cert("client")
    issued.cert_chain_pems[0].write_to_path(chain)
    issued.private_key_pem.write_to_path(key)

    async def say_nothing(reader, writer):
        pass

    async with ending(say_nothing) as url:
        words = await refusal(f"{url}&sslcert={chain}&sslkey={key}", StoreUnavailable)
    assert "check that the server trusts the certificate of sslcert" in words


async def test_files_that_are_missing_or_no_certificates(secured, tmp_path):
    gone, empty = tmp_path / "gone.pem", tmp_path / "empty.pem"
    words = await refusal(f"{secured}?sslmode=verify-ca&sslrootcert={gone}")
    assert f"{gone} cannot be read; correct sslrootcert in the URL" in words
    empty.touch()
    words = await refusal(f"{secured}?sslmode=verify-ca&sslrootcert={empty}")
    assert "check sslrootcert, sslcert, sslkey and sslpassword" in words
