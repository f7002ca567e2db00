"""Divides a project's permits to run among the workers that want them."""

from __future__ import annotations

from collections.abc import Mapping

from tickwell.ids import spread

#: Where the permits of a project are kept, as a record of the project: the kind, which is the key.
PERMITS_KIND = "running-permits"
#: Milliseconds after which the next holders have a permit, where there are fewer than holders.
ROTATION = 5_000


def divide(limit: int, wants: Mapping[str, int], now: int) -> dict[str, int]:
    """How many permits each holder may have: all that it wants, or an equal part.

    The same in every process, but for the moment of a rotation: it says what is fair, and never
    what is allowed.
    """
    wanting = [holder for holder, count in wants.items() if count]
    if len(wanting) > limit:
        rotation = now // ROTATION
        wanting.sort(key=lambda holder: spread(f"{rotation}:{holder}", 1 << 32))
        return dict.fromkeys(wanting[:limit], 1)
    parts, left = {}, limit
    for position, holder in enumerate(sorted(wanting, key=lambda each: (wants[each], each))):
        parts[holder] = min(wants[holder], left // (len(wanting) - position))
        left -= parts[holder]
    return parts
