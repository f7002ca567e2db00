"""One word for one thing, as the glossary has them."""

import re

import pytest

from tests.docs import pages

#: What others call it, and what it is called here.
OTHER_WORDS = {
    r"\bworker pool": "worker",
    r"\bDLQ\b|\bdead.letter queue": "dead letters",
    r"\bpoll loop": "planner",
    r"\bmaster|\bslave": "planner, worker",
    r"\b(simply|just|easily|seamless\w*|blazing\w*|powerful|robust)\b": "(leave it out)",
}


@pytest.mark.parametrize("page", pages.PAGES, ids=pages.name)
def test_pages_use_our_words(page):
    prose = pages.prose(page.read_text("utf-8"))
    found = {
        match[0]: ours
        for pattern, ours in OTHER_WORDS.items()
        if (match := re.search(pattern, prose, re.IGNORECASE))
    }
    assert found == {}
