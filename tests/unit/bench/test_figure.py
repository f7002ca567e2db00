import pytest

from bench.cases.lateness import percentile
from bench.figure import Figure
from bench.table import render


def figure(**given):
    return Figure(**{"name": "drain", "ours": "9/s", "against": "bare 10/s", **given})


@pytest.mark.parametrize(
    ("ratios", "bar", "smaller", "passed"),
    [
        ([0.9], 0.5, False, True),
        ([0.4], 0.5, False, False),
        ([0.5], 0.5, False, True),
        ([0.9], 0.4, True, False),
        ([0.2], 0.4, True, True),
    ],
)
def test_a_ratio_is_held_against_its_bar(ratios, bar, smaller, passed):
    assert figure(ratios=ratios, bar=bar, smaller_is_better=smaller).passed is passed


def test_one_bad_round_of_three_is_noise():
    assert figure(ratios=[0.1, 0.8, 0.9], bar=0.5).passed


def test_a_figure_without_a_bar_is_not_judged():
    assert figure(ratios=[0.1]).passed
    assert figure(ratios=[0.1]).verdict == "-"


def test_a_fault_fails_whatever_the_ratio():
    wrong = figure(ratios=[2.0], bar=0.5, faults=["3 twice"])
    assert not wrong.passed
    assert "drain: 3 twice" in render([wrong])


def test_the_table_shows_median_spread_bar_and_verdict():
    shown = render([figure(ratios=[0.4, 0.6, 0.9], bar=0.5)])
    assert shown.splitlines()[-1].endswith("0.60   0.40 to 0.90  >= 0.5  pass")


def test_the_percentile_of_nothing_is_no_success():
    assert percentile([], 0.99) == float("inf")
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile([3, 1, 2], 1.0) == 3
