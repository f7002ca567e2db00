"""The suites: what is done to a store, and what it has to come to."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator

from tickwell.domain.policy import HOUR
from tickwell.testing.verify.account import Account
from tickwell.testing.verify.crew import begin, end, freeze, thaw
from tickwell.testing.verify.notes import FENCED
from tickwell.testing.verify.orders import ContractOrders
from tickwell.testing.verify.site import PATIENCE, Run, Site, until
from tickwell.testing.verify.verdict import Finding, Result
from tickwell.testing.verify.zombie import late_report

#: Topics that a quick verification tries: what exactly-once stands on.
QUICK_TOPICS = ("Firing", "Claiming", "Finishing", "Beating")
#: Processes beside each other.
CROWD = 3
#: How many wrong things are told of each promise.
_TOLD = 5
#: Milliseconds until jobs fire that are just being added.
_AHEAD = 3000
_PERIOD = 200
#: Seconds: long enough that whoever is stopped is stopped in the midst.
_NAP = 1.0
#: How long a wave of work lasts, in milliseconds.
_WAVE = 3000


async def contract(site: Site) -> list[Finding]:
    """Every topic of the contract of stores."""
    topics = QUICK_TOPICS if site.orders.quick else None
    process = await begin(
        "contract",
        ContractOrders(url=site.orders.url, tag=site.tag, make=site.orders.make, topics=topics),
    )
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    passed, wrong = Counter[str](), list[str]()
    try:
        async for line in process.stdout:
            topic, test, why = json.loads(line)
            passed[topic] += why is None
            if why is not None:
                wrong.append(f"{topic}: {test}: {why}")
            if (count := passed.total() + len(wrong)) % 50 == 0:
                site.tell(f"contract: {count} tests so far")
        code = await process.wait()
    finally:
        await end(process)
    if code not in {0, 1}:
        wrong.append(f"pytest ended with {code}")
    seen = f"{passed.total()} of {passed.total() + len(wrong)} tests in {len(passed)} topics"
    return [_finding("the contract of stores", "contract", "yes", wrong, seen)]


async def contention(site: Site) -> list[Finding]:
    """Several processes plan and claim what is due at one instant."""
    if not _is_shared(site):
        return [_not_tried(site, "contention", "one process has it for itself")]
    async with site.running("contention") as run:
        await run.crew.start_many(CROWD)
        at = await run.now() + _AHEAD
        await run.add_once(500 if site.orders.quick else 2000, at)
        await run.quiet()
        return list(_findings(site, "contention", await run.account()))


async def kill(site: Site) -> list[Finding]:
    """Processes are killed and frozen in the midst; others take over what they had."""
    if not _is_shared(site):
        return [_not_tried(site, "kill", "one process has it for itself")]
    kills = 1 if site.orders.quick else 4
    async with site.running("kill") as run:
        crowd = await run.crew.start_many(CROWD)
        for _ in range(kills):
            await _wave(run, crowd[0])
            await end(crowd.pop(0))
            crowd.append(await run.crew.start())
        await _wave(run, crowd[0])
        await _frozen(run, crowd[0])
        await run.quiet()
        # Whoever was frozen has still to hear that its reports come too late.
        await until(lambda: _has_reported(run, crowd[0]), 10.0)
        account = await run.account()
        await run.crew.dismiss()
        account.unfenced += await late_report(run.store, await run.now())
    seen = f"{account.lost_attempts} attempts taken over, {account.refused} late reports refused"
    fencing = _finding("fencing", "kill", site.promises.fencing, account.unfenced, seen)
    return [*_findings(site, "kill", account), fencing]


async def skew(site: Site) -> list[Finding]:
    """Two processes whose clocks are an hour fast and an hour slow."""
    if not site.promises.clock.startswith("the server"):
        why = "all processes of the host have its one clock"
        return [_not_tried(site, "skew", why, "clock", site.promises.clock)]
    async with site.running("skew") as run:
        await asyncio.gather(run.crew.start(HOUR), run.crew.start(-HOUR))
        first = await run.now() + 1000
        last = first + (2000 if site.orders.quick else 8000)
        await run.add_every(10, _PERIOD, first, last, 0.0)
        await run.quiet()
        return list(_findings(site, "skew", await run.account(), site.promises.clock))


SUITES: dict[str, Callable[[Site], Awaitable[list[Finding]]]] = {
    "contract": contract,
    "contention": contention,
    "kill": kill,
    "skew": skew,
}


def _is_shared(site: Site) -> bool:
    return not site.place.url.startswith("memory:")


async def _wave(run: Run, process: Process) -> None:
    """Work for some seconds; a process is in the midst of it when this returns."""
    before = _begun(run, process)
    first = await run.now() + 1000
    await run.add_every(10, _PERIOD, first, first + _WAVE, _NAP)

    async def has_begun() -> bool:
        return _begun(run, process) > before

    await until(has_begun, 10.0)


def _begun(run: Run, process: Process) -> int:
    return sum(note.process == process.pid for note in run.notes())


async def _frozen(run: Run, process: Process) -> None:
    """Freeze it until another has begun what it had in hand."""

    async def is_taken_over() -> bool:
        seen = run.notes()
        its = {note.execution: note.attempt for note in seen if note.process == process.pid}
        return any(note.attempt > its.get(note.execution, note.attempt) for note in seen)

    freeze(process)
    try:
        await until(is_taken_over, PATIENCE)
    finally:
        thaw(process)


async def _has_reported(run: Run, process: Process) -> bool:
    return any(note.what == FENCED and note.process == process.pid for note in run.notes())


def _findings(site: Site, suite: str, account: Account, clock: str = "yes") -> Iterator[Finding]:
    promises, fires = site.promises, account.fires
    seen = f"{account.records:,} records of {fires:,} fire times"
    yield _finding("one record per fire", suite, promises.one_record, account.doubled, seen)
    seen = f"{fires - len(account.lost):,} of {fires:,} fire times run, in {account.calls:,} calls"
    yield _finding("nothing lost", suite, promises.nothing_lost, account.lost, seen)
    seen = f"{len(account.early):,} of {account.calls:,} calls early"
    yield _finding("never early", suite, clock, account.early, seen)


def _finding(promise: str, suite: str, promised: str, wrong: list[str], seen: str) -> Finding:
    return Finding(
        promise=promise,
        suite=suite,
        promised=promised,
        result=Result.BROKEN if wrong else Result.OK,
        seen=seen,
        wrong=wrong[:_TOLD],
    )


def _not_tried(
    site: Site, suite: str, why: str, promise: str = "many hosts", promised: str = ""
) -> Finding:
    return Finding(
        promise=promise,
        suite=suite,
        promised=promised or site.promises.many_hosts,
        result=Result.NOT_TRIED,
        seen=why,
    )
