"""Store URLs: what they mean, and what is refused."""

import pytest

from tickwell.errors import InvalidSetting
from tickwell.stores.mysql import MysqlStore
from tickwell.stores.mysql.url import parse
from tickwell.wiring import make_store


def test_the_name_has_no_credentials():
    location = parse("mysql://ann:s3c%40ret@db.example:3307/jobs?prefix=mine_&ssl=false")
    assert location.name == "mysql://db.example:3307/jobs?prefix=mine_"
    assert "s3c" not in repr(location)
    assert location.driver == {
        "host": "db.example",
        "port": 3307,
        "user": "ann",
        "password": "s3c@ret",
    }


def test_options_have_defaults():
    location = parse("mariadb://127.0.0.1/d")
    assert location.name == "mariadb://127.0.0.1/d"
    assert (location.prefix, location.pool, location.lock_timeout) == ("tickwell_", 10, 10)
    assert location.driver == {"host": "127.0.0.1", "port": 3306}


def test_options_are_taken_as_they_are_given():
    location = parse(
        "mysql://h/d?pool=3&lock_timeout=2.5&statement_timeout=9&connect_timeout=4"
        "&socket=/run/mysqld/mysqld.sock"
    )
    assert (location.pool, location.lock_timeout) == (3, 2.5)
    assert (location.statement_timeout, location.connect_timeout) == (9, 4)
    assert location.driver["unix_socket"] == "/run/mysqld/mysqld.sock"


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ("h/d?prefix=Mine", "small letters"),
        ("h/d?prefix=a`b", "small letters"),
        ("h/d?prefix=", "small letters"),
        ("h/d?pool=0", "no number from 1 to 999999"),
        ("h/d?lock_timeout=soon", "no number from 0.001 to 999999"),
        ("h/d?ssl=maybe", "true, false or unverified"),
        ("h/d?prefiks=x", "unknown options: prefiks"),
        ("h", "name a database"),
        ("h/", "name a database"),
        ("h/a/b", "name a database"),
        ("h:99999/d", "the port"),
    ],
)
def test_what_cannot_be_meant_is_refused(rest, words):
    with pytest.raises(InvalidSetting, match=words) as refused:
        parse(f"mysql://ann:s3cret@{rest}")
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["mysql", "mariadb"])
def test_the_scheme_names_the_store(scheme):
    assert isinstance(make_store(f"{scheme}://h/d"), MysqlStore)
