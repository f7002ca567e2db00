"""The kit itself: no test hides another."""

from collections import Counter

from tickwell.testing.contract import TOPICS, StoreContract


def names_in(topic):
    return [name for name in vars(topic) if name.startswith("test_")]


def test_no_two_topics_use_one_name():
    names = Counter(name for topic in TOPICS for name in names_in(topic))
    assert [name for name, uses in names.items() if uses > 1] == []


def test_no_two_topics_share_a_helper():
    helpers = Counter(
        name for topic in TOPICS for name in vars(topic) if name.startswith("_") and name[1] != "_"
    )
    assert [name for name, uses in helpers.items() if uses > 1] == []


def test_every_topic_is_in_the_contract():
    assert set(TOPICS) <= set(StoreContract.__mro__)
    assert all(names_in(topic) for topic in TOPICS)
