"""Where a text was cut in the middle of a secret: found whatever both are, without many looks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickwell.executors.http.response import redaction as module
from tickwell.executors.http.response.redaction import SHORTEST, overlap, padded


def by_trying(text, value):
    lengths = range(min(len(text), len(value) - 1), SHORTEST - 1, -1)
    return next((length for length in lengths if value.startswith(text[-length:])), 0)


UNITS = st.text("ab\0", min_size=1, max_size=4)
REPEATING = st.lists(
    st.tuples(UNITS, st.integers(1, 60)).map(lambda pair: pair[0] * pair[1]), max_size=4
).map("".join)


@given(before=REPEATING, value=REPEATING, cut=st.integers(0, 300), after=st.text("ab", max_size=2))
def test_the_longest_beginning_is_found(before, value, cut, after):
    text = before + value[:cut] + after
    assert overlap(text, value) == by_trying(text, value)


@given(text=st.text("ab", max_size=80), value=st.text("ab", max_size=80))
def test_the_longest_beginning_of_any_text_is_found(text, value):
    text = "a" * 40 + text
    value = "a" * 38 + value
    assert overlap(text, value) == by_trying(text, value)


@pytest.mark.parametrize("size", [500, 8_000, 50_000])
@pytest.mark.parametrize("end", ["", "c", "c" + "a" * 90, "ab" * 40])
def test_a_secret_that_repeats_itself_is_not_compared_at_every_place(monkeypatch, size, end):
    compared, places = [], module._positions

    def note(part, text):
        compared.append(len(part) + len(text))
        return places(part, text)

    monkeypatch.setattr(module, "_positions", note)
    text, value = "a" * 65_000 + end, "a" * size + "/b"
    assert overlap(text, value) == by_trying(text, value)
    assert sum(compared) <= 12 * size


@given(text=REPEATING, parts=st.lists(REPEATING.filter(bool), min_size=1, max_size=3))
def test_what_is_searched_for_is_not_in_the_padding(text, parts):
    longer = padded(text * 50, *(part * 50 for part in parts))
    assert longer.startswith(text * 50)
    for part in parts:
        assert longer.count(part * 50) == (text * 50).count(part * 50)
