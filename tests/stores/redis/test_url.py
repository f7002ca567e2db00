"""Store URLs of Redis: what they mean, and what is refused before anything is sent."""

import pytest

from tickwell.errors import InvalidSetting
from tickwell.stores.redis import RedisStore
from tickwell.stores.redis.url import parse
from tickwell.wiring import make_store


@pytest.mark.parametrize("scheme", ["redis", "rediss"])
def test_the_scheme_names_the_store(scheme):
    assert isinstance(make_store(f"{scheme}://localhost/1"), RedisStore)


def test_credentials_are_for_the_driver_only():
    location = parse("redis://ann:secret@host:6380/3?prefix=mine&pool=4&timeout=2.5")
    assert location.dsn == "redis://ann:secret@host:6380/3"
    assert location.name == "redis://host:6380/3?prefix=mine"
    assert (location.prefix, location.pool, location.timeout) == ("mine", 4, 2.5)
    assert location.key("epoch") == "{mine}:epoch"


def test_the_first_database_unless_named():
    assert parse("redis://host").name == "redis://host/0"


def test_tls_options_are_handed_on():
    location = parse("rediss://host?ssl_ca_certs=/ca.pem")
    assert location.dsn == "rediss://host/0?ssl_ca_certs=%2Fca.pem"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("redis://", "no URL of Redis"),
        ("redis://host:x", "the port is no number from 1 to 65535"),
        ("redis://host/jobs", "they have numbers"),
        ("redis://host/0?prefix={x}", "a prefix has"),
        ("redis://host/0?pool=0", "pool=0 is no positive number"),
        ("redis://host/0?sslmode=on", "unknown options: sslmode"),
    ],
)
def test_what_cannot_be_meant(url, reason):
    with pytest.raises(InvalidSetting, match=reason) as refused:
        parse(url)
    assert "For example redis://localhost:6379/0" in str(refused.value)
