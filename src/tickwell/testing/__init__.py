"""Tools for tests. `tickwell.testing.contract` and the plugin need pytest, the rest does not."""

from tickwell.executors.run import Snoozed
from tickwell.testing.blocking_kit import BlockingKit
from tickwell.testing.clock import ManualClock
from tickwell.testing.executors import FakeExecutor
from tickwell.testing.kit import Kit
from tickwell.testing.receiver import Receiver
from tickwell.testing.run import FakeRun
from tickwell.testing.simulation import simulate

__all__ = [
    "BlockingKit",
    "FakeExecutor",
    "FakeRun",
    "Kit",
    "ManualClock",
    "Receiver",
    "Snoozed",
    "simulate",
]
