"""A name may hold every emoji, and nothing that is not seen."""

import pytest

from tickwell import Call, OnDemand
from tickwell.domain.job import Job
from tickwell.domain.naming import is_visible
from tickwell.errors import InvalidJob

JOINER = "\u200d"
FAMILY = JOINER.join("👨👩👧")


@pytest.mark.parametrize(
    "name",
    [
        f"{FAMILY} newsletter",
        f"👩🏽{JOINER}🚀",  # with a tone of skin
        f"❤\ufe0f{JOINER}🔥",  # with the sign that makes it a picture
        f"🏳\ufe0f{JOINER}🌈",
        f"🐈{JOINER}⬛",
        "تقرير المبيعات",
    ],
)
def test_emoji_of_several_parts_are_names(name):
    assert is_visible(name)
    assert Job(id="j", name=name, trigger=OnDemand(), target=Call("x")).name == name


@pytest.mark.parametrize(
    "name",
    [
        f"pay{JOINER}roll",
        f"{JOINER}👨",
        f"👨{JOINER}",
        f"👨{JOINER}{JOINER}👩",
        f"👨{JOINER}a",
        f"©{JOINER}©",
        "pay\u200broll",
        "pay\u202eroll",
        f"{FAMILY}\u2060",
        "a\nb",
    ],
)
def test_what_is_not_seen_is_refused(name):
    assert not is_visible(name)
    with pytest.raises(InvalidJob, match="printable characters"):
        Job(id="j", name=name, trigger=OnDemand(), target=Call("x"))
