"""Which file a URL names."""

from pathlib import Path

import pytest

from tickwell.errors import InvalidSetting
from tickwell.stores.sqlite import SqliteStore
from tickwell.stores.sqlite.url import Location, parse


@pytest.mark.parametrize(
    ("url", "path", "synchronous"),
    [
        ("sqlite:///relative.db", "relative.db", "full"),
        ("sqlite:////abs/path.db", "/abs/path.db", "full"),
        ("sqlite:///a%20file.db", "a file.db", "full"),
        ("sqlite:///x.db?synchronous=normal", "x.db", "normal"),
        ("sqlite:///x.db?synchronous=FULL", "x.db", "full"),
    ],
)
def test_a_url_names_a_file(url, path, synchronous):
    assert parse(url) == Location(Path(path), synchronous)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite://host/x.db",
        "postgresql:///x.db",
        "sqlite:///:memory:",
        "sqlite:///x.db?synchronous=off",
        "sqlite:///x.db?mode=ro",
    ],
)
def test_other_urls_are_refused_with_an_example(url):
    with pytest.raises(InvalidSetting) as caught:
        parse(url)
    assert "://" in str(caught.value)


def test_a_store_is_named_by_its_url():
    assert SqliteStore.from_url("sqlite:///x.db").name == "sqlite:///x.db"
    assert SqliteStore.from_url("sqlite:////a/b c.db").name == "sqlite:////a/b%20c.db"
    assert SqliteStore(Path("x.db")).name == "sqlite:///x.db"
