"""Request limits: per address without credentials, per key or user with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, ip_address
from math import ceil, inf

from tickwell.errors import LimitReached, StoreError
from tickwell.ids import Random, new_id
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.time import Time

#: Buckets that are remembered; the fullest are forgotten first, because a new one is full.
MOST = 50_000


@dataclass(frozen=True, slots=True)
class Rate:
    """So many in so many milliseconds."""

    limit: int
    window: int


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of asking."""

    allowed: bool
    remaining: int
    #: Seconds until the bucket is full again, or, when refused, until there are enough.
    reset: int


class Buckets:
    """One bucket for each key."""

    def __init__(self, rate: Rate) -> None:
        self.rate = rate
        #: Tokens, and as of when.
        self._levels: dict[Hashable, tuple[float, int]] = {}

    def take(self, key: Hashable, now: int, count: int = 1) -> Taken:
        """Take so many, if there are as many; none otherwise."""
        limit, window = self.rate.limit, self.rate.window
        level = self.level(key, now)
        if level < count:
            reset = ceil((count - level) * window / limit / 1000)
            return Taken(allowed=False, remaining=max(int(level), 0), reset=reset)
        if key not in self._levels and len(self._levels) >= MOST:
            self._forget(now)
        self._levels[key] = (level - count, now)
        reset = ceil((limit - level + count) * window / limit / 1000)
        return Taken(allowed=True, remaining=int(level - count), reset=reset)

    def spend(self, key: Hashable, count: int, at: int, now: int) -> None:
        """Take away what was taken elsewhere at an instant, whether or not there is as much.

        What is missing is owed, up to one limit: else a client that takes each as it is refilled
        would get as many in every process.
        """
        if key not in self._levels and len(self._levels) >= MOST:
            self._forget(now)
        limit = float(self.rate.limit)
        since = max(self._levels.get(key, (limit, at))[1], at)
        self._levels[key] = (max(self.level(key, since) - count, -limit), since)

    def level(self, key: Hashable, now: int) -> float:
        """How many are left; fewer than none: how many are owed."""
        known = self._levels.get(key)
        if known is None:
            return float(self.rate.limit)
        level, at = known
        refilled = max(now - at, 0) * self.rate.limit / self.rate.window
        return min(level + refilled, float(self.rate.limit))

    def _forget(self, now: int) -> None:
        """The fuller half goes: who is throttled stays so."""
        by_level = sorted(self._levels, key=lambda key: self.level(key, now))
        self._levels = {key: self._levels[key] for key in by_level[: MOST // 2]}


KIND = "requests"
#: Milliseconds between two exchanges, that one record grows, and that it is kept.
EVERY, GROWS, KEPT = 1_000, 60_000, 15 * 60_000
#: Milliseconds that a record of the minute before may still be written in.
LATE = 5_000
#: Of how many a record tells: those with the most; and records that are read.
MOST, MOST_RECORDS = 500, 10_000

#: Whose limit, who, how many requests they made elsewhere, and at which instant.
Spend = Callable[[str, str, int, int], None]


class Sharing:
    """Tells others what was counted here, and hears what they counted."""

    def __init__(self, store: RecordStore, clock: Time, random: Random, spend: Spend) -> None:
        self._store = store
        self._clock = clock
        self._spend = spend
        self._id = new_id(clock.now(), random)
        self._due = 0.0
        #: Counted since others were told, and until when.
        self._new: Counter[str] = Counter()
        self._noted_at = 0
        #: What the record of a minute says, and which minute.
        self._told: Counter[str] = Counter()
        self._minute = 0
        #: What was heard of each record, and as of when.
        self._heard: dict[str, dict[str, int]] = {}
        self._heard_at = 0

    def note(self, name: str, key: str) -> None:
        """One request that others should know of."""
        self._new[f"{name} {key}"] += 1
        self._noted_at = self._clock.now()

    @property
    def is_due(self) -> bool:
        """Whether it is time to exchange."""
        return self._clock.now() >= self._due

    async def exchange(self) -> None:
        """Tell and hear. While the store is away each process counts for itself."""
        now, self._due = self._clock.now(), inf  # one at a time, however slow the store is
        try:
            with suppress(StoreError):
                await self._tell(now)
                await self._hear(now)
        finally:
            self._due = self._clock.now() + EVERY

    async def _tell(self, now: int) -> None:
        if not self._new:
            return
        if now // GROWS != self._minute:
            self._minute = now // GROWS
            self._told.clear()
        # Told with the next ones of this minute should the store be away, and else never: what is
        # told late would be held against who asks then.
        self._told.update(self._new)
        self._new.clear()
        record = Record(
            kind=KIND,
            project=PLATFORM,
            key=f"{self._minute}:{self._id}",
            document={"at": self._noted_at, "counts": dict(self._told.most_common(MOST))},
            expires_at=now + KEPT,
        )
        await self._store.put_record(record, now)

    async def _hear(self, now: int) -> None:
        minute = now // GROWS
        of_this_minute = (self._heard_at - LATE) // GROWS == minute
        prefix = f"{minute}:" if of_this_minute else ""
        records = await self._store.list_records(KIND, PLATFORM, prefix, now, MOST_RECORDS)
        others = [each for each in records if not each.key.endswith(self._id)]
        heard = {}
        for record in sorted(others, key=lambda each: each.document["at"]):
            before, counts = self._heard.get(record.key, {}), record.document["counts"]
            for whose, count in counts.items():
                if count > before.get(whose, 0):
                    name, _, key = whose.partition(" ")
                    self._spend(name, key, count - before.get(whose, 0), record.document["at"])
            # Who is not among the most any more may be again.
            heard[record.key] = before | counts
        self._heard = self._heard | heard if of_this_minute else heard
        self._heard_at = now


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left, for the headers of the answer, which a refusal has too."""

    #: What was counted: requests of an address, a key or a project, or a project's changes.
    name: str
    rate: Rate
    remaining: int
    reset: int
    allowed: bool

    def require(self) -> None:
        """Raise `LimitReached` where there was none left."""
        if self.allowed:
            return
        what, whose = ("changes", "project") if self.name == "changes" else ("requests", self.name)
        raise LimitReached(
            f"{self.rate.limit:,} {what} in {self.rate.window // 1000:,} s are allowed"
            f" for one {whose}",
            retry_after=self.reset,
            hint=_HINTS.get(self.name, ""),
        )


_HINTS = {
    "address": "With an API key there are more",
    "changes": "Send jobs in batches and use bulk actions, or ask a platform admin to raise it",
}


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
        """One request without valid credentials."""
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
    """With IPv6 a client has a whole network of addresses, so the network is counted."""
    try:
        found = ip_address(address)
    except ValueError:  # a socket's, or none
        return address
    if isinstance(found, IPv4Address):
        return address
    return str(found.ipv4_mapped or f"{found.packed[:8].hex(':', 2)}::/64")
