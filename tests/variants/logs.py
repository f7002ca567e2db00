"""Logs and spans that break a promise."""

import re

from tickwell.log import text
from tickwell.observe import outages, spans


def secrets_logged(patches):
    """Texts reach a log as they are."""
    patches.setattr(text, "_SECRETS", [])


def c1_logged(patches):
    """Only the control characters of ASCII are spelled out."""
    patches.setattr(text, "_CONTROLS", re.compile("[\x00-\x1f\x7f]"))
    patches.setattr(text.spelled, "__defaults__", (text._CONTROLS,))


def every_failure_logged(patches):
    """A line for every step that fails."""
    patches.setattr(outages.Outages, "_is_news", lambda *_: True)


def trace_per_attempt(patches):
    """Each attempt begins a trace of its own."""
    patches.setattr(spans.ExecutionIds, "generate_trace_id", lambda self: next(_NUMBERS))


_NUMBERS = iter(range(1, 1_000_000))
