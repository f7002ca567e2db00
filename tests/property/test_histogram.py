"""Percentiles of merged histograms against those of all values."""

from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from tickwell.domain.policy import DAY
from tickwell.domain.tally import PER_DOUBLING, Histogram, bucket_of, merge, percentile

#: What docs/dashboard.md states.
BOUND = 0.091
DURATIONS = st.lists(st.integers(0, 5_000) | st.integers(0, 30 * DAY), min_size=1, max_size=200)


def histogram(values):
    found: Histogram = {}
    for value in values:
        merge(found, {bucket_of(value): 1})
    return found


@given(DURATIONS, st.sampled_from([0.5, 0.95, 0.99]), st.integers(0, 200))
def test_a_percentile_of_merged_parts_is_within_the_bound(values, part, cut):
    merged = histogram(values[:cut])
    merge(merged, histogram(values[cut:]))
    assert merged == histogram(values)
    exact = sorted(values)[ceil(part * len(values)) - 1]
    found = percentile(merged, part)
    assert found is not None
    if exact == 0:
        assert 0 <= found < 1
    else:
        assert abs(found - exact) <= BOUND * exact


@given(st.integers(1, 40 * DAY))
def test_a_value_lies_within_the_limits_of_its_bucket(value):
    bucket = bucket_of(value)
    assert 2 ** (bucket / PER_DOUBLING) <= value * (1 + 1e-9)
    assert value < 2 ** ((bucket + 1) / PER_DOUBLING) * (1 + 1e-9)


def test_nothing_has_no_percentile():
    assert percentile({}, 0.5) is None
