"""A verification from start to end: create the scratch store, run the suites, and remove it."""

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
from tickwell.testing.verify.scratch import ScratchStore, scratch_for
from tickwell.testing.verify.suite_run import Verification
from tickwell.testing.verify.suites import SUITES
from tickwell.testing.verify.verdict import Verdict

Tell = Callable[[str], None]


async def verify(orders: Orders, tell: Tell) -> Verdict:
    """Run the suites on a store; the scratch store is removed however this ends."""
    _check(orders)
    tag = f"tickwell_verify_{SystemRandom().getrandbits(32):08x}"
    scratch = scratch_for(orders.url, tag)
    clock = StoreClock()
    began = clock.monotonic()
    # It does not exist yet: a user who could not remove it later must not create it.
    await scratch.drop()
    tell(f"Working in {scratch.name}; your data is not touched.")
    try:
        promises = await _promises(orders, scratch)
        tell(f"{promises}.")
        verdict = Verdict(scratch=scratch.name, promises=promises)
        with tempfile.TemporaryDirectory(prefix="tickwell-verify-") as folder:
            verification = Verification(orders, tag, scratch, promises, Path(folder), tell)
            for suite in orders.suites:
                tell(f"{suite}: {(SUITES[suite].__doc__ or '').strip()}")
                verdict.findings += await SUITES[suite](verification)
    except (Exception, asyncio.CancelledError):
        await _drop(scratch, tell)
        raise
    verdict.left = await _drop(scratch, tell)
    verdict.seconds = clock.monotonic() - began
    return verdict


def _check(orders: Orders) -> None:
    unknown = sorted(set(orders.suites) - SUITES.keys())
    if unknown:
        raise InvalidInput(
            f"unknown value {', '.join(unknown)}",
            field="suite",
            hint=f"Expected one of {', '.join(SUITES)}",
        )
    if "contract" in orders.suites and find_spec("pytest") is None:
        raise InvalidInput(
            "the suite contract needs pytest, which is not installed",
            field="suite",
            hint="Install it: pip install 'tickwell[verify]'; or run the others:"
            " --suite contention --suite kill --suite skew",
        )


async def _promises(orders: Orders, scratch: ScratchStore) -> Promises:
    """Create the scratch store; its promises are known once it is open."""
    store = maker(orders.make)(scratch.url)
    try:
        await store.open()
    except StoreRefused as error:
        if "grant" not in str(error).lower():
            raise
        # Each scratch store has another name: a grant for this one would not help.
        words = f"{error}; or verify as a user who may create and remove a scratch store"
        raise StoreRefused(words) from error
    await store.close()
    promises: Promises = store.promises
    return promises


async def _drop(scratch: ScratchStore, tell: Tell) -> str | None:
    """Remove the scratch store; its name if that fails."""
    try:
        await scratch.drop()
    except (TickwellError, OSError) as error:
        tell(f"{scratch.name} could not be removed: {error}")
        return scratch.name
    return None
