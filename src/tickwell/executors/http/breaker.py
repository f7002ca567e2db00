"""Breakers: a host that only fails is left in peace for a while, then tried with one webhook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

#: Seconds after which a failure has nothing to do with the next one.
WINDOW = 60.0
#: A rest doubles with each probe that fails, up to so many times the first.
LONGEST = 16
MOST = 10_000

#: A project and a host: what one project breaks is not broken for another.
Key = tuple[str, str]


@dataclass(slots=True)
class _Line:
    failures: int = 0
    failed_at: float = 0.0
    #: Until then nothing goes out; 0: the line is closed, as it should be.
    open_until: float = 0.0
    rest: float = 0.0
    #: Until then one webhook is under way to see whether the host is back.
    probing_until: float = 0.0


class Breakers:
    """Counts failures in a row; knows nothing of requests."""

    def __init__(self, failures: int, rest: float, monotonic: Callable[[], float]) -> None:
        #: How many in a row open it; 0: never.
        self._most = failures
        self._rest = rest
        self._monotonic = monotonic
        self._lines: dict[Key, _Line] = {}

    def wait(self, key: Key) -> float:
        """Seconds to stay away; 0: go ahead. After the rest the first who asks may go alone."""
        line = self._lines.get(key)
        if line is None or not line.open_until:
            return 0.0
        now = self._monotonic()
        until = max(line.open_until, line.probing_until)
        if now < until:
            return until - now
        line.probing_until = now + line.rest
        return 0.0

    def succeeded(self, key: Key) -> None:
        """The host answered as it should."""
        self._lines.pop(key, None)

    def failed(self, key: Key) -> None:
        """The host did not answer, or that it cannot."""
        if not self._most:
            return
        now = self._monotonic()
        line = self._lines.get(key)
        if line is None:
            if len(self._lines) >= MOST:
                self._lines.clear()
            line = self._lines[key] = _Line()
        if line.open_until:
            if now >= line.open_until:  # the probe; those that were under way before count once
                line.rest = min(line.rest * 2, self._rest * LONGEST)
                line.open_until, line.probing_until = now + line.rest, 0.0
            return
        line.failures = line.failures + 1 if now - line.failed_at <= WINDOW else 1
        line.failed_at = now
        if line.failures >= self._most:
            line.rest = self._rest
            line.open_until = now + line.rest

    def gave_up(self, key: Key) -> None:
        """The attempt says nothing about the host: somebody else may go."""
        line = self._lines.get(key)
        if line is not None:
            line.probing_until = 0.0
