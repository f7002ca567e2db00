"""A password with odd characters in the URL of a server: understood or refused, never quoted."""

import pytest
from pymongo.errors import ConfigurationError

from tickwell.errors import InvalidSetting, StoreRefused
from tickwell.stores.mongo.errors import translate
from tickwell.wiring import make_store

SERVERS = ["postgresql", "mysql", "mongodb", "redis"]
#: One is a piece of the password wherever the URL is cut.
ODD = ["hush/hush", "hush#hush", "hush?hush", "hush[hush", "12/hush", "12?hush", "p@12/hush"]


@pytest.mark.parametrize("scheme", SERVERS)
@pytest.mark.parametrize("password", ODD)
def test_what_is_not_escaped_is_refused_with_the_remedy(scheme, password):
    with pytest.raises(InvalidSetting, match="%2F for /") as refused:
        make_store(f"{scheme}://ann:{password}@localhost/1")
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize("scheme", SERVERS)
def test_what_is_escaped_is_a_password(scheme):
    store = make_store(f"{scheme}://ann:hush%2F%3F%23%5B%40%3A%25@localhost/1")
    assert store.name == f"{scheme}://localhost/1"


@pytest.mark.parametrize("scheme", SERVERS)
@pytest.mark.parametrize("port", ["hush", "99999", "0", "-1"])
def test_what_is_no_port(scheme, port):
    with pytest.raises(InvalidSetting, match="the port is no number from 1 to 65535") as refused:
        make_store(f"{scheme}://localhost:{port}/1")
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["postgresql", "mongodb"])
def test_several_hosts_have_ports_of_their_own(scheme):
    hosts = "a:1,[::1]:2,c"
    assert make_store(f"{scheme}://ann:hush@{hosts}/x").name == f"{scheme}://{hosts}/x"


@pytest.mark.parametrize("url", ["redis:/ann:hush@host/0", "ann:hush@host", "redis//ann:hush@h"])
def test_a_mistyped_scheme_shows_no_password(url):
    with pytest.raises(InvalidSetting, match="names no store that Tickwell knows") as refused:
        make_store(url)
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    ("scheme", "spelled"),
    [
        ("postgres+asyncpg", "postgres://"),
        ("postgresql+psycopg", "postgresql://"),
        ("pgsql", "postgresql://"),
        ("Postgresql", "postgresql://"),
        ("mysql+pymysql", "mysql://"),
        ("mariadb+mariadbconnector", "mariadb://"),
        ("mongo", "mongodb://"),
        ("redis+tls", "rediss://"),
        ("sqlite+aiosqlite", "sqlite://"),
        ("sqlite3", "sqlite://"),
    ],
)
def test_a_scheme_of_elsewhere_is_answered_with_ours(scheme, spelled):
    with pytest.raises(InvalidSetting, match=rf"Write {spelled}") as refused:
        make_store(f"{scheme}://ann:hush@localhost/1")
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["mariadb", "mongodb+srv", "postgres", "rediss"])
def test_second_spellings_are_known(scheme):
    assert make_store(f"{scheme}://localhost/1").name.endswith("://localhost/1")


def test_a_domain_without_servers_is_told_from_a_server():
    said = ConfigurationError("The DNS query name does not exist: _mongodb._tcp.x.example.")
    error = translate(said, "mongodb+srv://x.example/jobs")
    assert isinstance(error, StoreRefused)
    assert "mongodb://host:27017 names the servers" in str(error)
