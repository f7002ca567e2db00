"""Links lead somewhere."""

import re

import pytest

from tests.docs import pages

PATH = re.compile(r"(?:src|tests|docs|examples|bench|scripts)/[\w/.-]*\w")


def broken(page):
    """Relative links whose file or heading is missing."""
    for link in pages.links(page.read_text("utf-8")):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        known = pages.anchors(path.read_text("utf-8")) if path.is_file() and anchor else {""}
        if not path.exists() or (anchor and anchor not in known):
            yield link


@pytest.mark.parametrize("page", pages.ALL_PAGES, ids=pages.name)
def test_relative_links_resolve(page):
    assert list(broken(page)) == []


@pytest.mark.parametrize("page", pages.ALL_PAGES, ids=pages.name)
def test_paths_that_are_named_exist(page):
    named = {path for span in pages.spans(page.read_text("utf-8")) for path in PATH.findall(span)}
    assert sorted(path for path in named if not (pages.ROOT / path).exists()) == []


def test_every_page_can_be_reached_from_the_readme():
    reached, to_do = set(), [pages.ROOT / "README.md"]
    while to_do:
        page = to_do.pop()
        reached.add(page)
        for link in pages.links(page.read_text("utf-8")):
            path = (page.parent / link.partition("#")[0]).resolve()
            if path.suffix == ".md" and path.exists() and path not in reached:
                to_do.append(path)
    assert set(pages.PAGES) - reached == set()
