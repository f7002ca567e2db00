"""Tools for tests. `tickwell.testing.contract` needs pytest, the rest does not."""

from tickwell.testing.clock import ManualClock
from tickwell.testing.executors import FakeExecutor
from tickwell.testing.simulation import simulate

__all__ = ["FakeExecutor", "ManualClock", "simulate"]
