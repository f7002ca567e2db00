"""TLS to MongoDB, Redis and MariaDB: used, verified, and what is wrong with it named."""

import gc
import os
import shutil
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trustme

from tests.servers import mariadb, mongo, redis
from tests.servers.private import free_port
from tickwell.errors import StoreRefused
from tickwell.wiring import make_store


@pytest.fixture(scope="module")
def files():
    """Certificates of a server called localhost, of its authority, and of another authority."""
    with TemporaryDirectory(prefix="tickwell-certificates-") as name:
        folder = Path(name)
        authority = trustme.CA()
        issued = authority.issue_cert("localhost")
        issued.private_key_and_cert_chain_pem.write_to_path(folder / "both.pem")
        issued.cert_chain_pems[0].write_to_path(folder / "chain.pem")
        issued.private_key_pem.write_to_path(folder / "key.pem")
        authority.cert_pem.write_to_path(folder / "trusted.pem")
        trustme.CA().cert_pem.write_to_path(folder / "other.pem")
        if os.getuid() == 0:  # MariaDB runs as its own user
            for path in (folder, *folder.iterdir()):
                shutil.chown(path, "mysql")
        yield folder


def on_mongo(files):
    server = mongo.start(
        *("--tlsMode", "preferTLS", "--tlsCertificateKeyFile", str(files / "both.pem")),
        *("--tlsCAFile", str(files / "trusted.pem"), "--tlsAllowConnectionsWithoutCertificates"),
    )
    quick = "serverSelectionTimeoutMS=2000"
    return f"mongodb://localhost:{server.port}/tls?tls=true&{quick}&tlsCAFile={{authority}}"


def on_redis(files):
    port = free_port()
    redis.start(
        *("--tls-port", str(port), "--tls-cert-file", str(files / "chain.pem")),
        *("--tls-key-file", str(files / "key.pem"), "--tls-ca-cert-file"),
        *(str(files / "trusted.pem"), "--tls-auth-clients", "no"),
    )
    return f"rediss://localhost:{port}/0?ssl_ca_certs={{authority}}"


def on_mariadb(files):
    server = mariadb.start(
        f"--ssl-cert={files / 'chain.pem'}",
        f"--ssl-key={files / 'key.pem'}",
        f"--ssl-ca={files / 'trusted.pem'}",
    )
    return server.url.replace("127.0.0.1", "localhost") + "?ssl_ca={authority}"


@pytest.fixture(scope="module", params=[on_mongo, on_redis, on_mariadb])
def url(request, files):
    return request.param(files)


async def refusal(url):
    store = make_store(url)
    try:
        with pytest.raises(StoreRefused) as refused:
            await store.open()
    finally:
        await store.close()
    with warnings.catch_warnings():  # MongoDB's driver leaves sockets of failed handshakes to this
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    return str(refused.value)


async def test_a_certificate_of_the_host_by_a_trusted_authority(url, files):
    store = make_store(url.format(authority=files / "trusted.pem"))
    await store.open()
    assert await store.ping() > 0
    await store.close()


async def test_a_certificate_of_another_host_is_named(url, files):
    trusted = url.format(authority=files / "trusted.pem").replace("localhost", "127.0.0.1")
    words = await refusal(trusted)
    assert "has a certificate that is not accepted (IP address mismatch" in words
    assert "check the host and" in words


async def test_a_certificate_by_an_authority_that_is_not_trusted_is_named(url, files):
    words = await refusal(url.format(authority=files / "other.pem"))
    assert "has a certificate that is not accepted (self-signed certificate" in words


async def test_mongodb_without_tls_is_named():
    options = "tls=true&serverSelectionTimeoutMS=2000"
    words = await refusal(f"mongodb://127.0.0.1:{mongo.server().port}/tls?{options}")
    assert "refuses TLS" in words
    assert "on a trusted network use tls=false" in words


async def test_mariadb_without_tls_is_named():
    words = await refusal(f"{mariadb.start('--skip-ssl').url}?ssl=true")
    assert "refuses TLS" in words
    assert "on a trusted network use ssl=false" in words
