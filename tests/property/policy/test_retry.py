"""G17: delays grow up to the cap, and jitter stays within its share."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tickwell.domain.policy import DAY, Backoff, Retry
from tickwell.domain.trigger.duration import Millis

retries = st.builds(
    Retry,
    backoff=st.sampled_from(Backoff),
    delay=st.integers(0, DAY).map(Millis),
    factor=st.floats(1, 1e6),
    cap=st.integers(0, 30 * DAY).map(Millis),
    jitter=st.floats(0, 1),
)


@given(retries, st.integers(1, 99))
def test_without_jitter_delays_never_shrink_and_stop_at_the_cap(retry, failures):
    steady = replace(retry, jitter=0.0)
    delays = [steady.delay_after(n, "x") for n in (failures, failures + 1)]
    assert delays == sorted(delays)
    assert 0 <= delays[-1] <= retry.cap


@given(retries, st.integers(1, 100), st.text())
def test_jitter_moves_a_delay_by_no_more_than_its_share(retry, failures, seed):
    base = replace(retry, jitter=0.0).delay_after(failures, seed)
    delay = retry.delay_after(failures, seed)
    reach = base * retry.jitter + 1
    assert base - reach <= delay <= min(base + reach, retry.cap)
