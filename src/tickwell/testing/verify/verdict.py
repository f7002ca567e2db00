"""What a verification found, and how it is shown."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from tickwell.cli.output.screen import Screen
from tickwell.domain.promises import Promises


class Result(StrEnum):
    """The result of one promise in one suite."""

    OK = "ok"
    BROKEN = "broken"
    #: Not promised, or not applicable to this store.
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the table."""

    promise: str
    suite: str
    #: What the store promises.
    promised: str
    result: Result
    #: What was observed, in figures.
    seen: str
    #: The first violations.
    wrong: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Verdict:
    """All findings of a verification."""

    #: The scratch store.
    scratch: str
    promises: Promises
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0
    #: The scratch store, if it could not be removed.
    left: str | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is broken."""
        return all(finding.result is not Result.BROKEN for finding in self.findings)

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        return {"ok": self.ok, **asdict(self), "seconds": round(self.seconds, 1)}


def show(screen: Screen, verdict: Verdict) -> None:
    """Print a table of promises and observations, then the violations."""
    screen.table(
        ("PROMISE", "SUITE", "RESULT", "PROMISED", "SEEN"),
        [
            (each.promise, each.suite, each.result, each.promised, each.seen)
            for each in verdict.findings
        ],
        soft=("PROMISED", "SEEN"),
    )
    for each in verdict.findings:
        for wrong in each.wrong:
            screen.say(f"{each.suite}: {each.promise}: {wrong}")
    broken = sum(each.result is Result.BROKEN for each in verdict.findings)
    ended = f"{broken} broken" if broken else "Nothing is broken"
    screen.say(f"{ended}; {verdict.seconds:.0f} s.")
