"""Charts that count wrongly."""

from tickwell.domain.execution import State
from tickwell.domain.tally import PERIODS, Tally
from tickwell.engine.charts.tallies import Tallies


def retries_counted(patches):
    """Every failed attempt counts as an execution that failed."""
    sound = Tally.count

    def count(self, report):
        sound(self, report)
        self.dead += report.state is State.WAITING

    patches.setattr(Tally, "count", count)


def late_reports_replace(patches):
    """A report from before a store outage begins the count of its minute anew."""
    sound = Tallies._oldest

    def forget(self):
        oldest = sound(self)
        self._sums = {slot: sums for slot, sums in self._sums.items() if slot[3] >= oldest[slot[0]]}

    patches.setattr(Tallies, "_forget", forget)
    patches.setattr(Tallies, "_oldest", lambda _: dict.fromkeys(PERIODS, 0))
