"""How long the event loop may be kept quiet for those who are on time beside a crowd."""

from __future__ import annotations

#: After a hush nothing is hushed for so many times as long: a tenth of the time at most.
APART = 9


class Hush:
    """What was kept quiet, in monotonic seconds."""

    def __init__(self) -> None:
        self._again_at = float("-inf")

    def is_allowed(self, now: float) -> bool:
        """Whether the crowd has had its time since the last one."""
        return now >= self._again_at

    def was_kept(self, began: float, ended: float) -> None:
        """It lasted from then to then."""
        self._again_at = ended + APART * (ended - began)
