"""Figures as metric families of `prometheus_client`: the only module that imports it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector
from prometheus_client.samples import Exemplar as Shown

from tickwell.observe.metrics.definitions import METRICS, Metric, Type
from tickwell.observe.metrics.series import Exemplar, Sample

_PROCESS = ProcessCollector(registry=None)


class Families(Collector):
    """One look at the figures; registries and encoders ask it for families."""

    def __init__(self, samples: Iterable[Sample], *, whole: bool) -> None:
        self._samples = list(samples)
        #: Not of one project only: with the figures of the process, and metrics without any.
        self._whole = whole

    def collect(self) -> Iterator[Family]:
        """All families, in the order of their definitions."""
        summed = _summed(self._samples)
        for metric in METRICS:
            if self._whole or metric in summed:
                yield _family(metric, summed.get(metric, {}))
        if self._whole:
            yield from _PROCESS.collect()


class LiveFamilies(Collector):
    """For a registry of one's own: each look at it is a new one at the figures."""

    def __init__(self, samples: Callable[[], Iterable[Sample]]) -> None:
        self._samples = samples

    def describe(self) -> Iterator[Family]:
        """Names only: a registry asks for them when it is given the collector."""
        for metric in METRICS:
            yield _family(metric, {})

    def collect(self) -> Iterator[Family]:
        """All families as of now."""
        summed = _summed(self._samples())
        for metric in METRICS:
            yield _family(metric, summed.get(metric, {}))


def encode(families: Families, accept: str) -> tuple[bytes, str]:
    """Text for a scraper that accepts this, and its content type: OpenMetrics or Prometheus."""
    registry = CollectorRegistry()
    registry.register(families)
    try:
        encoder, content_type = choose_encoder(accept)
    except (ValueError, TypeError):  # a version that is no number
        encoder, content_type = choose_encoder("")
    return encoder(registry), content_type


Summed = dict[tuple[str, ...], Sample]


def _summed(samples: Iterable[Sample]) -> Mapping[Metric, Summed]:
    """Over processes and projects."""
    found: dict[Metric, Summed] = {}
    for each in samples:
        series = found.setdefault(each.metric, {})
        known = series.get(each.labels)
        if known is None:
            series[each.labels] = Sample(
                each.metric, "", each.labels, list(each.values), dict(each.exemplars)
            )
        else:
            known.values = [a + b for a, b in zip(known.values, each.values, strict=True)]
            known.exemplars |= each.exemplars
    return found


def _family(metric: Metric, series: Summed) -> Family:
    if metric.type is Type.HISTOGRAM:
        return _histogram(metric, series)
    kind = CounterMetricFamily if metric.type is Type.COUNTER else GaugeMetricFamily
    family = kind(metric.name, metric.help, labels=metric.labels)
    for labels, sample in sorted(series.items()):
        family.add_metric(labels, sample.values[0])
    return family


def _histogram(metric: Metric, series: Summed) -> Family:
    family = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
    bounds = [*map(str, metric.buckets), "+Inf"]
    for labels, sample in sorted(series.items()):
        *counts, total = sample.values
        buckets = [
            (bound, count, _shown(sample.exemplars[n])) if n in sample.exemplars else (bound, count)
            for n, (bound, count) in enumerate(zip(bounds, accumulate(counts), strict=True))
        ]
        family.add_metric(labels, buckets, total)
    return family


def _shown(exemplar: Exemplar) -> Shown:
    return Shown({"trace_id": exemplar.trace}, exemplar.seconds, exemplar.at)
