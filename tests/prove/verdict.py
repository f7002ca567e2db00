"""What a proof found."""

import time
from collections import Counter
from dataclasses import dataclass, field

from tests.faults.checker import check
from tests.processes.site import Site

#: Seconds in which everything ends once the faults are over.
HEALING = 120.0


@dataclass
class Verdict:
    """The outcome of one proof, for people and for machines."""

    name: str
    seed: int
    seconds: float = 0.0
    faults: int = 0
    fires: int = 0
    executions: int = 0
    calls: int = 0
    #: Executions by state, and attempts by outcome.
    states: dict[str, int] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=dict)
    #: Further figures of this proof.
    figures: dict[str, float] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.violations

    def heal(self, site: Site) -> None:
        """Wait until all fire times have come and everything has ended."""
        last = max(fires[-1] for fires in site.fires.values() if fires) / 1000
        time.sleep(max(last - time.time(), 0))
        try:
            site.wait_until_quiet(HEALING, expected=len(site.fires))
        except AssertionError as error:
            self.violations.append(str(error))

    def judge(self, site: Site, *, by_reason: bool = False) -> None:
        """Read the history and take over what the checker says."""
        history = site.history()
        history.by_reason = by_reason
        self.fires = site.expected
        self.executions = len(history.rows)
        self.calls = len(history.calls)
        self.states = dict(Counter(row.state for row in history.rows))
        self.outcomes = dict(Counter(each.outcome for row in history.rows for each in row.tries))
        self.violations += [str(violation) for violation in check(history)]

    def in_words(self) -> str:
        words = "proved" if self.ok else f"REFUTED, {len(self.violations)} violations"
        lines = [f"{self.name}: {words} in {self.seconds:.0f} s (seed {self.seed})"]
        if self.fires:
            lines += [
                f"  {self.faults} faults, {self.fires} fire times, {self.calls} calls",
                f"  executions {_counts(self.states)}; attempts {_counts(self.outcomes)}",
            ]
        if self.figures:
            lines.append("  " + ", ".join(f"{k} {v:g}" for k, v in self.figures.items()))
        return "\n".join(lines + [f"  {each}" for each in self.violations[:20]])


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"
