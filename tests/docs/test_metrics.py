"""Every metric is documented as it is, and so is everything that is shipped for operators."""

import json
import re

import pytest

from tests.docs import pages
from tickwell.observe.metrics.definitions import METRICS

TEXT = pages.text_of("metrics")
ROWS = {cells[0].strip("`"): cells[1:] for cells in pages.rows(TEXT) if len(cells) == 4}
DEPLOY = pages.ROOT / "deploy"
#: What a histogram is scraped as.
PARTS = ("", "_bucket", "_count", "_sum")


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_metric_has_its_row(metric):
    labels = ", ".join(f"`{label}`" for label in metric.labels) or "none"
    assert ROWS[metric.name] == [metric.type.value, labels, metric.help]


def test_no_metric_is_documented_that_does_not_exist():
    documented = {name for name in ROWS if name.startswith("tickwell_")}
    assert documented == {metric.name for metric in METRICS}


def test_every_name_that_is_used_exists():
    rules = (DEPLOY / "prometheus" / "tickwell.rules.yml").read_text()
    dashboard = (DEPLOY / "grafana" / "tickwell.json").read_text()
    known = {metric.name + part for metric in METRICS for part in PARTS}
    for text in (rules, dashboard, TEXT):
        assert set(re.findall(r"\btickwell_\w+[a-z]", text)) <= known


def test_every_alert_is_explained():
    rules = (DEPLOY / "prometheus" / "tickwell.rules.yml").read_text()
    assert set(re.findall(r"alert: (\w+)", rules)) <= pages.spans(TEXT)


def test_the_dashboard_has_no_panel_twice():
    panels = json.loads((DEPLOY / "grafana" / "tickwell.json").read_text())["panels"]
    for what in ("id", "title"):
        assert len({panel[what] for panel in panels}) == len(panels)
