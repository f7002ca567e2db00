"""Request limits: per address without credentials, per key or user with them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, ip_address

from tickwell.errors import LimitReached
from tickwell.ids import Random
from tickwell.ports.store import RecordStore
from tickwell.services.limits.shared_counts import Sharing
from tickwell.services.limits.token_bucket import Buckets, Rate
from tickwell.services.time import Time


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left, for the headers of the answer, which a refusal has too."""

    #: Whose requests were counted: an address, a key, a project.
    name: str
    rate: Rate
    remaining: int
    reset: int
    allowed: bool

    def require(self) -> None:
        """Raise `LimitReached` where there was none left."""
        if self.allowed:
            return
        raise LimitReached(
            f"{self.rate.limit:,} requests in {self.rate.window // 1000:,} s are allowed"
            f" for one {self.name}",
            retry_after=self.reset,
            hint="With an API key there are more" if self.name == "address" else "",
        )


def count_request(name: str, buckets: Buckets, key: Hashable, now: int) -> Allowance:
    """Take one request out of a bucket."""
    taken = buckets.take(key, now)
    return Allowance(name, buckets.rate, taken.remaining, taken.reset, taken.allowed)


class RequestLimits:
    """A bucket for each address that shows no key, and one for each key or user; 0: no limit."""

    def __init__(self, clock: Time, *, without_key: int, with_key: int) -> None:
        self._clock = clock
        self._strangers = Buckets(Rate(without_key, 15 * 60_000)) if without_key else None
        self._known = Buckets(Rate(with_key, 60_000)) if with_key else None
        self._sharing: Sharing | None = None

    def share(self, store: RecordStore, random: Random) -> None:
        """Count together with the other API processes on this store, if anything is limited."""
        if self._strangers or self._known:
            self._sharing = Sharing(store, self._clock, random, self._spend)

    async def exchange(self) -> None:
        """Tell the others, and hear from them, when it is time to."""
        if self._sharing is not None and self._sharing.is_due:
            await self._sharing.exchange()

    def stranger(self, address: str) -> Allowance | None:
        """One request of somebody who showed nothing that can be believed."""
        return self._take("address", self._strangers, network_of(address))

    def known(self, name: str) -> Allowance | None:
        """One request of a key or a user."""
        return self._take("key", self._known, name)

    def _take(self, name: str, buckets: Buckets | None, key: str) -> Allowance | None:
        if buckets is None:
            return None
        taken = count_request(name, buckets, key, self._clock.now())
        if self._sharing and taken.allowed and taken.remaining < 0.9 * buckets.rate.limit:
            self._sharing.note(name, key)
        return taken

    def _spend(self, name: str, key: str, count: int, at: int) -> None:
        buckets = self._strangers if name == "address" else self._known
        if buckets is not None:
            buckets.spend(key, count, at, self._clock.now())


@lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """With IPv6 whoever has one address has all of its network, and would never be counted."""
    try:
        found = ip_address(address)
    except ValueError:  # a socket's, or none
        return address
    if isinstance(found, IPv4Address):
        return address
    return str(found.ipv4_mapped or f"{found.packed[:8].hex(':', 2)}::/64")
