"""Metrics of the last minutes."""

from __future__ import annotations

from pydantic import Field

from tickwell.api.models.base import Answer


class Rates(Answer):
    """Executions per second over the last 1, 5 and 15 minutes."""

    one: float = Field(alias="1min", examples=[10.5])
    five: float = Field(alias="5min", examples=[12.3])
    fifteen: float = Field(alias="15min", examples=[11.8])


class Percentiles(Answer):
    """Milliseconds, within 9.1 % of the exact ones; null: there was no attempt."""

    p50: int | None = Field(examples=[150])
    p95: int | None = Field(examples=[500])
    p99: int | None = Field(examples=[1000])


class QueueMetrics(Answer):
    """A queue in the last 15 minutes."""

    #: None: all queues that are not named.
    name: str | None = Field(description="null: all queues beyond the 25 busiest.")
    rate: float = Field(description="Executions that ended, per second.")
    errors: float = Field(description="Executions that failed, per second.")
    duration: Percentiles
    lateness: Percentiles


class Metrics(Answer):
    """Rates, errors and percentiles of the last minutes."""

    rate: Rates = Field(description="Executions that ended, each once, per second.")
    errors: Rates = Field(description="Executions that failed for good, per second.")
    duration: Percentiles = Field(description="Of attempts, last 15 minutes.")
    lateness: Percentiles = Field(description="From due to started, last 15 minutes.")
    queue_depth: int = Field(description="Executions due and not running.", examples=[3])
    queues: list[QueueMetrics]
