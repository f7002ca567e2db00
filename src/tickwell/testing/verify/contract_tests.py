"""The topics of the contract as pytest collects them: one class each."""

from __future__ import annotations

from tickwell.testing.contract import TOPICS

for _topic in TOPICS:
    globals()[f"Test{_topic.__name__}"] = type(f"Test{_topic.__name__}", (_topic,), {})
