"""How many requests anybody may make; counted in this process, each API process for itself."""

from __future__ import annotations

from dataclasses import dataclass

from tickwell.errors import LimitReached
from tickwell.services.limits.bucket import Buckets, Rate
from tickwell.services.time import Time


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left, for the headers of the answer."""

    name: str
    rate: Rate
    remaining: int
    reset: int


class RequestLimits:
    """A bucket for each address that shows no key, and one for each key or user; 0: no limit."""

    def __init__(self, clock: Time, *, without_key: int, with_key: int) -> None:
        self._clock = clock
        self._strangers = Buckets(Rate(without_key, 15 * 60_000)) if without_key else None
        self._known = Buckets(Rate(with_key, 60_000)) if with_key else None

    def stranger(self, address: str) -> Allowance | None:
        """One request of somebody who showed nothing that can be believed."""
        return self._take("address", self._strangers, address)

    def known(self, name: str) -> Allowance | None:
        """One request of a key or a user."""
        return self._take("key", self._known, name)

    def _take(self, name: str, buckets: Buckets | None, key: str) -> Allowance | None:
        if buckets is None:
            return None
        taken = buckets.take(key, self._clock.now())
        if not taken.allowed:
            raise LimitReached(
                f"{buckets.rate.limit:,} requests in {buckets.rate.window // 1000:,} s are allowed"
                f" for one {name}",
                retry_after=taken.reset,
                hint="" if name == "key" else "With an API key there are more",
            )
        return Allowance(name, buckets.rate, taken.remaining, taken.reset)
