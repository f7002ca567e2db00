"""What a fair part of a project's permits is."""

from hypothesis import given
from hypothesis import strategies as st

from tickwell.domain.permits import ROTATION, divide


def test_each_has_what_it_wants_or_an_equal_part():
    assert divide(10, {"a": 3, "b": 4}, 0) == {"a": 3, "b": 4}
    assert divide(10, {"a": 2, "b": 9, "c": 9}, 0) == {"a": 2, "b": 4, "c": 4}
    assert divide(10, {"a": 0, "b": 99}, 0) == {"b": 10}


def test_where_there_are_fewer_than_holders_each_has_its_turn():
    wants = {"a": 1, "b": 50}
    had = {next(iter(divide(1, wants, turn * ROTATION))) for turn in range(50)}
    assert had == {"a", "b"}


@given(
    st.integers(1, 50),
    st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.integers(0, 60), max_size=12),
    st.integers(0, 1 << 40),
)
def test_all_of_the_limit_is_given_if_it_is_wanted_and_never_more(limit, wants, now):
    parts = divide(limit, wants, now)
    assert sum(parts.values()) == min(limit, sum(min(one, limit) for one in wants.values()))
    assert all(part <= wants[holder] for holder, part in parts.items())
