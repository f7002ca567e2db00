"""Gates: limits on what may be live at once, and what a busy gate does to the next execution.

An execution passes two gates in a fixed order, so that no two can wait for each other: first its
job's own (overlap), whose permit it keeps until it has ended, retries included; then that of its
concurrency key, whose permit it keeps for one attempt only, or of its rate (see `domain.rate`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import Any

from tickwell.domain.coercion import require_whole
from tickwell.errors import InvalidJob


class Overlap(StrEnum):
    """What happens to an execution whose instant comes while another of its job is live."""

    #: It is skipped, with the reason "overlap".
    SKIP = "skip"
    #: It waits; a newer one takes its place, and it is skipped.
    QUEUE_ONE = "queue_one"
    #: It waits, and so do all the others, in order.
    QUEUE_ALL = "queue_all"
    #: It waits, and the live one is asked to stop.
    CANCEL_RUNNING = "cancel_running"
    #: There is no gate.
    ALLOW = "allow"


#: Characters in a key, with the payload's fields filled in.
LONGEST = 255

_PLACEHOLDER = re.compile(r"\{(\{)?\s*payload\.([A-Za-z0-9_.-]+)\s*\}(?(1)\})")


@dataclass(frozen=True, slots=True)
class Concurrency:
    """At most `limit` attempts at once among all executions of the project with the same key."""

    #: Plain text, or with fields of the payload: "customer-{payload.customer}".
    key: str
    limit: int = 1

    def __post_init__(self) -> None:
        require_whole(self, "concurrency", "limit")
        if not isinstance(self.key, str) or not self.key or len(self.key) > LONGEST:
            raise InvalidJob("a key has 1 to 255 characters", field="concurrency.key")
        if self.limit < 1:
            raise InvalidJob(
                f"a limit of {self.limit} would let nothing run",
                field="concurrency.limit",
                hint="Give 1 or more",
            )

    def gate(self, project: str, payload: Any) -> str:
        """The gate that an execution with this payload passes."""
        key = _PLACEHOLDER.sub(lambda match: value_in(payload, match[2]), self.key)
        return f"{escaped(project)}/{hashed_if_odd(key)}"


def value_in(payload: Any, path: str) -> str:
    """A field of a payload, as part of a key; empty where there is none."""
    value = payload
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return "" if value is None else str(value)


def hashed_if_odd(key: str) -> str:
    """A key that can be indexed: a payload may hold anything, and stores index a gate's name."""
    if len(key) <= LONGEST and key.isprintable():
        return key
    return "#" + blake2b(key.encode(errors="replace"), digest_size=16).hexdigest()


def escaped(project: str) -> str:
    """A project as the first part of a gate's name: none can name a gate of another."""
    return project.replace("%", "%25").replace("/", "%2F")
