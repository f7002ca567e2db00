"""A verification from the first to the last step: make the place, try, and take it away."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from random import SystemRandom

from tickwell.clock import StoreClock
from tickwell.domain.promises import Promises
from tickwell.errors import InvalidInput, StoreRefused, TickwellError
from tickwell.testing.verify.orders import Orders, maker
from tickwell.testing.verify.places import Place, place_for
from tickwell.testing.verify.site import Site
from tickwell.testing.verify.suites import SUITES
from tickwell.testing.verify.verdict import Verdict

Tell = Callable[[str], None]


async def verify(orders: Orders, tell: Tell) -> Verdict:
    """Try a store; whatever ends this, the scratch place is taken away."""
    _check(orders)
    tag = f"tickwell_verify_{SystemRandom().getrandbits(32):08x}"
    place = place_for(orders.url, tag)
    clock = StoreClock()
    began = clock.monotonic()
    # Nothing is there yet: whoever could not take it away again makes nothing.
    await place.drop()
    tell(f"Working in {place.name}; your data is not touched.")
    try:
        promises = await _promises(orders, place)
        tell(f"{promises}.")
        verdict = Verdict(place=place.name, promises=promises)
        with tempfile.TemporaryDirectory(prefix="tickwell-verify-") as folder:
            site = Site(orders, tag, place, promises, Path(folder), tell)
            for suite in orders.suites:
                tell(f"{suite}: {(SUITES[suite].__doc__ or '').strip()}")
                verdict.findings += await SUITES[suite](site)
    except (Exception, asyncio.CancelledError):
        await _drop(place, tell)
        raise
    verdict.left = await _drop(place, tell)
    verdict.seconds = clock.monotonic() - began
    return verdict


def _check(orders: Orders) -> None:
    unknown = sorted(set(orders.suites) - SUITES.keys())
    if unknown:
        raise InvalidInput(
            f"there is no suite {', '.join(unknown)}",
            field="suite",
            hint=f"Known are {', '.join(SUITES)}",
        )
    if "contract" in orders.suites and find_spec("pytest") is None:
        raise InvalidInput(
            "the contract is a suite of tests, and pytest is not installed",
            field="suite",
            hint="Install it: pip install 'tickwell[verify]'; or leave it out:"
            " --suite contention --suite kill --suite skew",
        )


async def _promises(orders: Orders, place: Place) -> Promises:
    """Make the place; what the store promises is known once it is open."""
    store = maker(orders.make)(place.url)
    try:
        await store.open()
    except StoreRefused as error:
        if "grant" not in str(error).lower():
            raise
        # Each place has another name: to be given the right to this one would help nobody.
        words = f"{error}; or verify as somebody who may make such a place and remove it again"
        raise StoreRefused(words) from error
    await store.close()
    promises: Promises = store.promises
    return promises


async def _drop(place: Place, tell: Tell) -> str | None:
    """Take the place away; what stays behind is named."""
    try:
        await place.drop()
    except (TickwellError, OSError) as error:
        tell(f"Left behind: {place.name}, for it could not be removed: {error}")
        return place.name
    return None
