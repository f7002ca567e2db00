"""Notices when this process was absent: not started yet, frozen, or without its store."""

from __future__ import annotations

from dataclasses import dataclass

from tickwell.clock import Clock

#: Milliseconds by which a loop may be late without having been away: a slow statement, a full core.
SLACK = 1_000
#: Before the process began; earlier than every instant.
EVER = 0


@dataclass(frozen=True, slots=True)
class Away:
    """From this instant, of the store's time, until now."""

    since: int
    #: The store did not answer, so that no other process had it either.
    no_store: bool = False


class AbsenceWatch:
    """Compares when steps end with when they should have ended, by the store's time.

    So a clock that is set forward is an absence, too. One loop that is busy is none: as long as
    another one ends its steps, the process is there.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        #: Absences that were answered for.
        self.answered_for = 0
        #: Not answered for yet.
        self.away: Away | None = Away(EVER)
        self._due: dict[str, int] = {}
        self._last = EVER
        self._under_way = set[str]()
        self._failed = False

    def begin(self, service: str) -> None:
        """A step begins; if the last one did not end, the store did not answer it."""
        self._failed = self._failed or service in self._under_way
        self._under_way.add(service)
        self._due.setdefault(service, self.clock.now())
        self.note()

    def end(self, service: str, rest: float) -> None:
        """A step has ended well; the next one is due after the rest."""
        self.note()
        self._under_way.discard(service)
        self._failed = False
        self._last = self.clock.now()
        self._due[service] = self._last + int(rest * 1000)

    def note(self) -> None:
        """Notice an absence that is ending."""
        if self._due:
            self.was_due(max(self._last, min(self._due.values())))

    def was_due(self, instant: int) -> None:
        """Something is done now that was to be done at this instant."""
        now = self.clock.now()
        if now - instant <= SLACK:
            return
        since, failed = instant, self._failed
        if self.away is not None:
            since, failed = min(since, self.away.since), failed or self.away.no_store
        self.away, self._last = Away(since, no_store=failed), now

    def answered(self, away: Away) -> None:
        """What came due in this absence is answered for; if it has grown meanwhile, not yet."""
        if self.away == away:
            self.away = None
        self.answered_for += 1
