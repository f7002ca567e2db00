"""Fire times found leap by leap, so that nobody searches twice where nothing fires.

A leap says how far nothing fires: an instant, and whether it is a fire time for sure; what comes
next is later, or this one made sure. The caller may send an instant before which nothing is
wanted: a union sends its members past its own closed windows instead of letting each of them
search there, which would multiply the cost by every level of nesting.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from heapq import heapify, heappop, heapreplace
from typing import TYPE_CHECKING

from tickwell.domain.trigger.work import Spent, Work

if TYPE_CHECKING:
    from tickwell.domain.trigger.limits import Limits

#: The next fire time of a bare rule, strictly later.
Rule = Callable[[int], "int | None"]
Leap = tuple[int, bool]
Leaps = Generator[Leap, "int | None", None]

#: So far a fire time is looked for behind the first that is taken out.
FARTHEST = 100 * 31_557_600_000


def bare(nominal: Rule, toil: int, instant: int, work: Work) -> Leaps:
    """Those of a rule that nothing confines."""
    while (found := nominal(instant)) is not None:
        work.leap(toil, (), instant, found)
        wanted = yield found, True
        instant = found if wanted is None else max(found, wanted - 1)


def merged(several: Iterable[Leaps]) -> Leaps:
    """Those of any of several; equal fire times count once."""
    heap: list[tuple[int, bool, int, Leaps]] = []
    for number, leaps in enumerate(several):
        if leap := next(leaps, None):
            heap.append((leap[0], not leap[1], number, leaps))
    heapify(heap)
    floor: int | None = None
    while heap:
        instant, unsure, number, leaps = heap[0]
        if floor is None or instant >= floor:
            wanted = yield instant, not unsure
            floor = instant if unsure else instant + 1
            if wanted is not None and wanted > floor:
                floor = wanted
        # one that is unsure of the floor itself is asked to go on, not to stay
        if leap := _next(leaps, floor if instant < floor else None):
            heapreplace(heap, (leap[0], not leap[1], number, leaps))
        else:
            heappop(heap)


def met(members: list[Leaps], instant: int) -> Leaps:
    """Those that all of several have in common; in between, how far they have none."""
    heads = [next(leaps, None) for leaps in members]
    told, farthest = instant, None
    while True:
        known = [head for head in heads if head is not None]
        if len(known) < len(heads):
            return
        top = max(at for at, _ in known)
        wanted: int | None = None
        if all(head == (top, True) for head in known):
            wanted = max((yield top, True) or 0, top + 1)
            told, farthest = top, None
        elif top > told:
            farthest = farthest or top + FARTHEST
            if top > farthest:
                return
            told, wanted = top, max((yield top, False) or 0, top)
        floor = top if wanted is None else wanted
        heads = [_reached(leaps, head, floor) for leaps, head in zip(members, known, strict=True)]


def _reached(leaps: Leaps, head: Leap, floor: int) -> Leap | None:
    """The leap at or after a floor; one that is unsure of the floor itself is asked to go on."""
    if head[0] > floor or head == (floor, True):
        return head
    return _next(leaps, floor if head[0] < floor else None)


def leapt(nominal: Rule, limits: Limits, instant: int, work: Work) -> Leaps:
    """Those of a rule that limits confine."""
    instant, farthest = limits.begin(instant), None
    while (found := nominal(instant)) is not None:
        farthest = farthest or found + FARTHEST
        if found > farthest or limits.is_over(found):
            return
        work.leap(limits.cost, limits.zones, instant, found)
        opened = limits.allowed(found, work)
        if opened is None:
            return
        wanted = yield opened, opened == found
        instant = found if opened == found else opened - 1
        if wanted is not None:
            instant = max(instant, wanted - 1)
        if wanted is not None or opened == found:
            farthest = None


def confined(leaps: Leaps, limits: Limits, work: Work) -> Leaps:
    """Those of a union that has limits of its own."""
    wanted = farthest = None
    last = limits.start
    while leap := _next(leaps, wanted):
        instant, sure = leap
        farthest = farthest or instant + FARTHEST
        if instant > farthest or limits.is_over(instant):
            return
        work.leap(limits.cost, limits.zones, instant if last is None else last, instant)
        last = opened = limits.allowed(instant, work)
        if opened is None:
            return
        fires = sure and opened == instant
        wanted = yield opened, fires
        if wanted is not None or fires:
            farthest = None
        if opened > instant and (wanted is None or wanted < opened):
            wanted = opened


def found(leaps: Leaps, end: int, work: Work) -> Iterator[int]:
    """The fire times among them, not later than an end; the last ones, if a search is given up."""
    try:
        for instant, sure in leaps:
            if instant > end:
                return
            if sure:
                yield instant
                work.renew()
            work.reached = instant if sure else instant - 1
    except Spent:
        work.gave_up = True


def _next(leaps: Leaps, wanted: int | None) -> Leap | None:
    try:
        return leaps.send(wanted)
    except StopIteration:
        return None
