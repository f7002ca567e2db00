"""Which file a URL names."""

from pathlib import Path

import pytest

from tickwell.errors import InvalidSetting, StoreRefused
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
    shared = f"{url}{'&' if '?' in url else '?'}shared=true"
    assert parse(shared) == Location(Path(path), synchronous, shared=True)


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
        "sqlite:///x.db?shared=perhaps",
    ],
)
def test_other_urls_are_refused_with_an_example(url):
    with pytest.raises(InvalidSetting) as caught:
        parse(url)
    assert "://" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("sqlite:///my#file.db", "%23"),
        (f"sqlite:///{'x' * 248}", "too long"),
        (f"sqlite:///{'folder/' * 200}x.db", "too long"),
        ("sqlite:///%ff.db", "no UTF-8"),
        ("sqlite:///\udcff.db", "no UTF-8"),
        ("sqlite:///a%00b.db", "null character"),
    ],
)
def test_a_name_that_no_file_can_have_is_refused(url, why):
    with pytest.raises(InvalidSetting, match=why):
        parse(url)


async def test_a_device_is_no_file():
    with pytest.raises(StoreRefused, match="is a device or a pipe"):
        await SqliteStore("/dev/null").open()


def test_a_store_is_named_by_its_url():
    assert SqliteStore.from_url("sqlite:///x.db").name == "sqlite:///x.db"
    assert SqliteStore.from_url("sqlite:////a/b c.db").name == "sqlite:////a/b%20c.db"
    assert SqliteStore(Path("x.db")).name == "sqlite:///x.db"
