from urllib.parse import urlsplit

import pytest

from tickwell.domain.store_url import split_store_url


def test_several_hosts_stay_together():
    parts = split_store_url("postgresql://ann:hush@a:1,[::1]:2,c/x?sslmode=require")
    assert (parts.scheme, parts.netloc) == ("postgresql", "ann:hush@a:1,[::1]:2,c")
    assert (parts.path, parts.query) == ("/x", "sslmode=require")


@pytest.mark.parametrize("url", ["redis://host", "redis:///0", "sqlite:///jobs.db", "nothing"])
def test_other_urls_are_split_as_urlsplit_does(url):
    assert split_store_url(url) == urlsplit(url)


@pytest.mark.parametrize("url", ["redis://:pa[ss@host/0", "redis://:pa]ss@host/0", "redis://[::1"])
def test_a_bracket_elsewhere_is_refused(url):
    with pytest.raises(ValueError, match=r"bracket|Invalid"):
        split_store_url(url)
