"""Fires only when somebody asks."""

from __future__ import annotations

from dataclasses import dataclass

from tickwell.domain.trigger.trigger import Trigger


@dataclass(frozen=True, slots=True)
class OnDemand(Trigger):
    """Never by itself."""

    @property
    def fires(self) -> bool:
        """Never by itself."""
        return False

    def busiest(self) -> tuple[int, int]:
        """Never by itself."""
        return 0, 0

    def _nominal(self, instant: int) -> int | None:
        del instant
        return None

    def _rule_in_words(self) -> str:
        return "only on demand"
