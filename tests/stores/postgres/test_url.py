"""Store URLs: what they mean, and what is refused."""

import pytest

from tickwell.errors import InvalidSetting
from tickwell.stores.postgres import PostgresStore
from tickwell.stores.postgres.url import parse
from tickwell.wiring import make_store


def test_the_name_has_no_credentials():
    location = parse("postgresql://ann:s3cret@db.example:5433/jobs?schema=mine&sslmode=require")
    assert location.name == "postgresql://db.example:5433/jobs?schema=mine"
    assert location.dsn == "postgresql://ann:s3cret@db.example:5433/jobs?sslmode=require"


def test_our_options_are_ours_and_the_rest_is_the_drivers():
    location = parse(
        "postgres://h/d?pooler=transaction&pool=3&lock_timeout=2.5&statement_timeout=9"
        "&connect_timeout=4&sslmode=verify-full&sslrootcert=/ca.pem"
    )
    assert (location.pooler, location.pool, location.lock_timeout) == ("transaction", 3, 2.5)
    assert (location.statement_timeout, location.connect_timeout) == (9, 4)
    assert location.dsn == "postgresql://h/d?sslmode=verify-full&sslrootcert=%2Fca.pem"
    assert location.name == "postgresql://h/d"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("schema=Mine", "small letters"),
        ('schema=a"b', "small letters"),
        ("schema=", "small letters"),
        ("pooler=session", "none, transaction"),
        ("pool=0", "no positive number"),
        ("lock_timeout=soon", "no positive number"),
        ("shema=x", "unknown options: shema"),
    ],
)
def test_what_cannot_be_meant_is_refused(query, words):
    with pytest.raises(InvalidSetting, match=words) as refused:
        parse(f"postgresql://ann:s3cret@h/d?{query}")
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_the_scheme_names_the_store(scheme):
    assert isinstance(make_store(f"{scheme}://h/d"), PostgresStore)
