"""Links to servers on other machines: encrypted and verified, unless the URL says otherwise."""

import asyncio
import logging
import ssl
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

import pytest
import trustme

from tickwell.errors import InvalidSetting, StoreError
from tickwell.services.health import weak_link_findings
from tickwell.settings import Settings
from tickwell.stores.link import hosts_of, is_local, system_authorities, weakness
from tickwell.stores.mongo.url import parse as parse_mongo
from tickwell.stores.mysql.url import parse as parse_mysql
from tickwell.stores.postgres import PostgresStore
from tickwell.stores.postgres import url as postgres
from tickwell.wiring import make_notifying_store, weak_links


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch, tmp_path):
    for name in ("PGHOST", "PGSSLMODE", "PGSSLROOTCERT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("host", "local"),
    [
        *((host, True) for host in ("", "localhost", "LOCALHOST.", "a.localhost", "127.0.0.1")),
        *((host, True) for host in ("127.8.9.1", "[::1]", "::1", "/run/db", "%2Frun%2Fdb")),
        *(
            (host, False)
            for host in ("db", "10.0.0.1", "localhost.example.com", "[::2]", "0.0.0.0")
        ),
        *((host, False) for host in ("127.0.0.1.example.com", "example.com")),
    ],
)
def test_which_hosts_are_this_machine(host, local):
    assert is_local(host) is local


def test_hosts_stand_between_credentials_and_path():
    assert hosts_of("u:p%40x@a:1,[::1]:2,b") == ["a", "[::1]", "b"]
    assert hosts_of("") == [""]


def tls_of(url):
    """What the driver is asked for, for each host."""
    found = []
    for dsn in postgres.parse(url).dsns:
        options = parse_qs(urlsplit(dsn).query)
        found.append((options.get("sslmode", [None])[0], options.get("sslrootcert", [None])[0]))
    return found


def test_postgres_verifies_a_server_on_another_machine():
    verified = ("verify-full", system_authorities())
    assert tls_of("postgresql://a@db/d") == [verified]
    assert tls_of("postgresql://a@db,127.0.0.1,[::1]:1/d") == [verified, (None, None), (None, None)]
    assert tls_of("postgresql:///d?host=db") == [verified]
    assert tls_of("postgresql:///d?host=/run/postgresql") == [(None, None)]
    assert tls_of("postgresql:///d") == [(None, None)]
    assert tls_of("postgresql://db/d?sslrootcert=/own.pem") == [("verify-full", "/own.pem")]
    assert tls_of("postgresql://db/d?sslmode=require") == [("require", None)]


def test_postgres_takes_what_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("PGHOST", "db")
    assert tls_of("postgresql:///d") == [("verify-full", system_authorities())]
    own = tmp_path / ".postgresql" / "root.crt"
    own.parent.mkdir()
    own.touch()
    assert tls_of("postgresql:///d") == [("verify-full", None)]  # the driver takes that file
    monkeypatch.setenv("PGSSLMODE", "disable")
    assert tls_of("postgresql:///d") == [(None, None)]
    assert "sslmode=disable" in (weakness("postgresql:///d") or "")


def context_of(url):
    return parse_mysql(url).driver.get("ssl")


def test_mysql_verifies_whenever_it_encrypts(tmp_path):
    authority = tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(authority)
    for url in (
        "mysql://db/d",
        "mysql://127.0.0.1/d?ssl=true",
        f"mysql://[::1]/d?ssl_ca={authority}",
    ):
        context = context_of(url)
        assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    for url in ("mysql://localhost/d", "mysql://db/d?ssl=false", "mysql://db/d?socket=/run/db"):
        assert context_of(url) is None
    context = context_of("mysql://db/d?ssl=unverified")
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_NONE, False)


def test_mysql_names_a_file_that_cannot_be_used(tmp_path):
    with pytest.raises(InvalidSetting, match="ssl_ca: a file cannot be used"):
        parse_mysql(f"mysql://db/d?ssl_ca={tmp_path}/missing.pem")


def test_mongo_encrypts_the_way_to_another_machine():
    assert parse_mongo("mongodb://db/d").options["tls"] is True
    assert parse_mongo("mongodb://127.0.0.1,db/d").options["tls"] is True
    for url in ("mongodb://127.0.0.1/d", "mongodb://db/d?tls=false", "mongodb://db/d?ssl=true"):
        assert "tls" not in parse_mongo(url).options
    assert "tls" not in parse_mongo("mongodb+srv://db.example.com/d").options


OPEN, FORGEABLE = "neither encrypted nor verified", "nothing shows that the server is the right"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        *((f"postgresql://db/d?sslmode={mode}", OPEN) for mode in ("disable", "allow", "prefer")),
        ("postgresql://db/d?sslmode=require", FORGEABLE),
        ("postgresql:///d?host=db&sslmode=disable", OPEN),
        ("mysql://db/d?ssl=false", OPEN),
        ("mariadb://db/d?ssl=unverified", FORGEABLE),
        ("mongodb://db/d?tls=false", OPEN),
        ("mongodb+srv://db.example.com/d?ssl=false", OPEN),
        ("mongodb://db/d?tlsInsecure=true", FORGEABLE),
        ("mongodb://db/d?tlsAllowInvalidHostnames=true", FORGEABLE),
        ("redis://db/0", OPEN),
        ("rediss://db/0?ssl_cert_reqs=none", FORGEABLE),
        ("rediss://db/0?ssl_cert_reqs=CERT_OPTIONAL", FORGEABLE),
        ("amqp://ann:hush@db//", OPEN),
        ("pyamqp://db//", OPEN),
        ("rediss://db/0?ssl_check_hostname=false", FORGEABLE),
    ],
)
def test_a_link_that_is_weak_on_purpose_is_named(url, words):
    assert words in (weakness(url) or "")


@pytest.mark.parametrize(
    "url",
    [
        "memory://",
        "sqlite:///file.db",
        "",
        "postgresql://db/d",
        "postgresql://db/d?sslmode=verify-full",
        "postgresql://db/d?sslmode=require&sslrootcert=/own.pem",
        "postgresql://127.0.0.1/d?sslmode=disable",
        "mysql://db/d",
        "mysql://db/d?socket=/run/db&ssl=false",
        "mongodb://db/d",
        "mongodb+srv://db.example.com/d",
        "rediss://db/0",
        "rediss://db/0?ssl_cert_reqs=CERT_REQUIRED",
        "amqps://db//",
        "amqp://localhost//",
        "rpc://",
        "redis://localhost/0",
    ],
)
def test_a_good_link_is_not_mentioned(url):
    assert weakness(url) is None


def test_a_weak_link_is_logged_once_without_its_password(caplog):
    settings = Settings(
        notify="redis://:hunter2@wakes.example/0",
        broker="amqp://ann:hunter2@tasks.example//",
        result_backend="redis://:hunter2@results.example/0",
    )
    url = "postgresql://ann:hunter2@store.example/d?sslmode=disable"
    with caplog.at_level(logging.WARNING, "tickwell"):
        for _ in range(2):
            make_notifying_store(url, settings)
    assert [record.getMessage() for record in caplog.records] == [
        f"the link to {setting} goes over the network neither encrypted nor verified ({why})"
        for setting, why in (
            ("store", "sslmode=disable"),
            ("notify", "redis://"),
            ("broker", "amqp://"),
            ("result_backend", "redis://"),
        )
    ]


def test_doctor_names_weak_links():
    found = weak_link_findings(
        weak_links("mysql://db/d?ssl=false", Settings(notify="redis://db/0"))
    )
    assert [(each.check, each.level) for each in found] == [("link", "amber")] * 2
    assert weak_links("sqlite:///a.db", Settings()) == []


async def test_a_server_without_tls_is_not_sent_a_password(monkeypatch):
    """Somebody else's: it has no TLS, and would like the password in clear."""
    received, gone = [], asyncio.Event()

    async def serve(reader, writer):
        received.append(await reader.readexactly(8))
        writer.write(b"N")
        with suppress(ConnectionError):
            if request := await reader.read(1000):  # only if the client goes on without TLS
                received.append(request)
                writer.write(b"R\0\0\0\x08\0\0\0\x03")
                received.append(await reader.read(1000))
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        gone.set()

    # The made-up name of another machine; it is dialled at a loopback address.
    getaddrinfo = asyncio.get_running_loop().getaddrinfo

    async def resolve(host, port, **options):
        return await getaddrinfo("127.0.0.1" if host == "db.example" else host, port, **options)

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        store = PostgresStore.from_url(f"postgresql://ann:hunter2@db.example:{port}/d")
        with pytest.raises(StoreError, match="add sslmode=disable"):
            await store.open()
        await gone.wait()
    assert len(received) == 1
