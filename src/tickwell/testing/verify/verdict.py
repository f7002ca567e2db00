"""What a verification found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from tickwell.domain.promises import Promises


class Result(StrEnum):
    """Of one promise in one suite."""

    OK = "ok"
    BROKEN = "broken"
    #: It is not promised, or cannot be tried with this store.
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the table."""

    promise: str
    suite: str
    #: What the store says of itself.
    promised: str
    result: Result
    #: What was seen, in figures.
    seen: str
    #: The first few things that were wrong.
    wrong: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Verdict:
    """All of it."""

    place: str
    promises: Promises
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0
    #: The scratch place, when it could not be removed.
    left: str | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is broken."""
        return all(finding.result is not Result.BROKEN for finding in self.findings)

    def document(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"ok": self.ok, **asdict(self), "seconds": round(self.seconds, 1)}
