"""Ids: derived from the fire time where an execution must be unique, random elsewhere."""

from __future__ import annotations

import os
import re
from hashlib import blake2b
from threading import Lock
from typing import Protocol

#: Bytes of randomness that are fetched together: asking for each id lets go of the loop.
_PIECE = 4096
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Random(Protocol):
    """The one thing that ids need of `random.Random`; simulation passes a seeded one."""

    def getrandbits(self, k: int, /) -> int: ...


class Entropy:
    """The machine's randomness. A process that is forked starts with a piece of its own."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._piece, self._used = b"", 0
        os.register_at_fork(after_in_child=self._forget)

    def getrandbits(self, k: int, /) -> int:
        """A number below 2 to the power of k."""
        size = (k + 7) // 8
        with self._lock:
            end = self._used + size
            if end > len(self._piece):
                self._piece, end = os.urandom(max(_PIECE, size)), size
            self._used = end
            taken = self._piece[end - size : end]
        return int.from_bytes(taken, "big") >> (size * 8 - k)

    def _forget(self) -> None:
        self._lock = Lock()  # its holder is not in this process
        self._piece, self._used = b"", 0


#: One for all: what is registered for forks stays registered.
ENTROPY = Entropy()


def is_id(text: str) -> bool:
    """Whether this can be an id where the database has a type for them."""
    return _UUID.fullmatch(text) is not None


def execution_id(job_id: str, fire_time: int) -> str:
    """The id of the one execution of a job at a fire time: a UUIDv8, first 48 bits the fire time.

    Every process that plans the fire computes the same id, so a duplicate insert is harmless:
    the key is the guard, never a lock.
    """
    digest = blake2b(f"{job_id}:{fire_time}".encode(), digest_size=10).hexdigest()
    return _layout(f"{fire_time:012x}", "8", digest)


def new_id(now: int, random: Random) -> str:
    """A UUIDv7: `now` in milliseconds, then 74 random bits."""
    return _layout(f"{now:012x}", "7", f"{random.getrandbits(80):020x}")


def first_id(instant: int) -> str:
    """What sorts before every id of an instant, and after those of all earlier ones."""
    return _layout(f"{instant:012x}", "0", "0" * 20)


def new_ids(now: int, random: Random, count: int) -> list[str]:
    """Several at once, for less than one by one."""
    time, width = f"{now:012x}", 20 * count
    rest = f"{random.getrandbits(80 * count):0{width}x}" if count else ""
    return [_layout(time, "7", rest[at : at + 20]) for at in range(0, width, 20)]


def trace_id(execution_id: str) -> str:
    """The trace that all attempts of an execution belong to: 32 hex digits.

    Those of the id. The one that has two fixed bits goes before the random ones: samplers compare
    the last 64 bits, and a tenth of all traces would be none.
    """
    plain = execution_id.replace("-", "")
    if len(plain) == 32 and not plain.strip(_HEX):
        return f"{plain[:13]}{plain[16]}{plain[13:16]}{plain[17:]}"
    return blake2b(execution_id.encode(), digest_size=16).hexdigest()


def span_id(execution_id: str, attempt: int) -> str:
    """The span of one attempt in that trace: 16 hex digits."""
    return f"{attempt & 0xFFFF:04x}{trace_id(execution_id)[20:]}"


def traceparent(execution_id: str, attempt: int) -> str:
    """Trace and span of an attempt, as W3C writes them; the same whether anybody records them."""
    trace = trace_id(execution_id)
    return f"00-{trace}-{attempt & 0xFFFF:04x}{trace[20:]}-01"


def spread(seed: str, width: int) -> int:
    """A stable number in [0, width) for a seed: jitter and `H` fields, equal in every process."""
    return int.from_bytes(blake2b(seed.encode(), digest_size=8).digest(), "big") % width


_HEX = "0123456789abcdef"
_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in _HEX}


def _layout(time: str, version: str, rest: str) -> str:
    return (
        f"{time[:8]}-{time[8:12]}-{version}{rest[:3]}-{_VARIANT[rest[3]]}{rest[4:7]}-{rest[7:19]}"
    )
