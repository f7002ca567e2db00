"""Store URLs: what they mean, and what is refused."""

import pytest

from tickwell.errors import InvalidSetting
from tickwell.stores.postgres import PostgresStore
from tickwell.stores.postgres.url import parse
from tickwell.wiring import make_store


def test_the_name_has_no_credentials():
    location = parse("postgresql://ann:s3cret@db.example:5433/jobs?schema=mine&sslmode=require")
    assert location.name == "postgresql://db.example:5433/jobs?schema=mine"
    assert location.dsns == ("postgresql://ann:s3cret@db.example:5433/jobs?sslmode=require",)


def test_our_options_are_ours_and_the_rest_is_the_drivers():
    location = parse(
        "postgres://h/d?pooler=transaction&pool=3&lock_timeout=2.5&statement_timeout=9"
        "&connect_timeout=4&sslmode=verify-full&sslrootcert=/ca.pem"
    )
    assert (location.pooler, location.pool, location.lock_timeout) == ("transaction", 3, 2.5)
    assert (location.statement_timeout, location.connect_timeout) == (9, 4)
    assert location.dsns == ("postgresql://h/d?sslmode=verify-full&sslrootcert=%2Fca.pem",)
    assert location.name == "postgresql://h/d"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("schema=Mine", "small letters"),
        ('schema=a"b', "small letters"),
        ("schema=pg_mine", "PostgreSQL's own"),
        ("schema=information_schema", "PostgreSQL's own"),
        ("schema=", "no value: schema"),
        ("sslmode=", "no value: sslmode"),
        ("schema=a&schema=b", "given twice"),
        ("pooler=session", "none, transaction"),
        ("pool=0", "no number from 1 to 999999"),
        ("lock_timeout=soon", "no number from 0.001 to 999999"),
        # The server would take it for none.
        ("lock_timeout=0.0004", "no number from 0.001 to 999999"),
        ("shema=x", "unknown options: shema"),
        ("port=5433", "write its port behind it"),
        ("target_session_attrs=odd", "one of any, primary,"),
    ],
)
def test_what_cannot_be_meant_is_refused(query, words):
    with pytest.raises(InvalidSetting, match=words) as refused:
        parse(f"postgresql://ann:s3cret@h/d?{query}")
    assert "s3cret" not in str(refused.value)


def test_of_several_hosts_the_primary_is_meant():
    primary = "sslmode=require&target_session_attrs=primary"
    assert parse("postgresql://ann:x@a,b:1/d?sslmode=require").dsns == (
        f"postgresql://ann:x@a/d?{primary}",
        f"postgresql://ann:x@b:1/d?{primary}",
    )
    socket = "%2Frun%2Fa", "%2Frun%2Fb"
    options = "port=1,2&target_session_attrs=any"
    assert parse(f"postgresql://ann@/d?host=/run/a,/run/b&{options}").dsns == (
        f"postgresql://ann@/d?host={socket[0]}&port=1&target_session_attrs=any",
        f"postgresql://ann@/d?host={socket[1]}&port=2&target_session_attrs=any",
    )
    with pytest.raises(InvalidSetting, match="as many ports as hosts"):
        parse("postgresql:///d?host=a,b&port=1,2,3")


def test_a_socket_folder_stands_in_an_option():
    location = parse("postgresql:///jobs?host=/run/postgresql&port=5433&user=ann")
    assert location.name == "postgresql:///run/postgresql/jobs"
    assert (location.user, location.database) == ("ann", "jobs")
    with pytest.raises(InvalidSetting, match="no number from 1 to 65535"):
        parse("postgresql:///jobs?host=/run/postgresql&port=abc")


def test_a_port_that_is_not_named_is_left_to_the_environment():
    assert parse("postgresql:///d?host=/run/x").dsns == ("postgresql:/d?host=%2Frun%2Fx",)


@pytest.mark.parametrize("host", ["a:77", "::1", "[::1]:77"])
def test_a_port_does_not_stand_in_the_option_for_the_host(host):
    with pytest.raises(InvalidSetting, match="port=5433"):
        parse(f"postgresql:///d?host={host}")


@pytest.mark.parametrize("rest", ["a,/d", ",a/d", "a,:5433/d", "/d?host=a,", "ann@a,/d"])
def test_no_host_is_left_to_chance(rest):
    with pytest.raises(InvalidSetting, match="has no name"):
        parse(f"postgresql://{rest}")


def test_no_part_of_a_password_is_taken_for_a_host():
    with pytest.raises(InvalidSetting, match="%40 for @") as refused:
        parse("postgresql://ann:s3@cret@h/d")
    assert "s3" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_the_scheme_names_the_store(scheme):
    assert isinstance(make_store(f"{scheme}://h/d"), PostgresStore)
