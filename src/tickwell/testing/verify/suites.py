"""The suites: what is done to a store, and what is expected of it."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator

from tickwell.domain.policy import HOUR
from tickwell.testing.verify.account import Account
from tickwell.testing.verify.late_report import late_report
from tickwell.testing.verify.notes import FENCED
from tickwell.testing.verify.orders import ContractOrders
from tickwell.testing.verify.processes import begin, end, freeze, thaw
from tickwell.testing.verify.suite_run import TIMEOUT, Run, Verification, until
from tickwell.testing.verify.verdict import Finding, Result

#: Topics of a quick verification: the basis of exactly-once records.
QUICK_TOPICS = ("Firing", "Claiming", "Finishing", "Beating")
#: Concurrent processes.
PROCESSES = 3
#: Maximum violations listed per promise.
_MAX_LISTED = 5
#: Milliseconds from adding jobs to their fire time.
_AHEAD = 3000
_PERIOD = 200
#: Seconds per run: long enough that a killed process is in the middle of one.
_NAP = 1.0
#: How long a wave of work lasts, in milliseconds.
_WAVE = 3000


async def contract(verification: Verification) -> list[Finding]:
    """Every topic of the contract of stores."""
    topics = QUICK_TOPICS if verification.orders.quick else None
    process = await begin(
        "contract",
        ContractOrders(
            url=verification.orders.url,
            tag=verification.tag,
            make=verification.orders.make,
            topics=topics,
        ),
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
                verification.tell(f"contract: {count} tests so far")
        code = await process.wait()
    finally:
        await end(process)
    if code not in {0, 1}:
        wrong.append(f"pytest ended with {code}")
    seen = f"{passed.total()} of {passed.total() + len(wrong)} tests in {len(passed)} topics"
    return [_finding("the contract of stores", "contract", "yes", wrong, seen)]


async def contention(verification: Verification) -> list[Finding]:
    """Several processes plan and claim what is due at one instant."""
    if not _is_shared(verification):
        return [_not_tried(verification, "contention", "only one process can use it")]
    async with verification.running("contention") as run:
        await run.processes.start_many(PROCESSES)
        at = await run.now() + _AHEAD
        await run.add_once(500 if verification.orders.quick else 2000, at)
        await run.quiet()
        return list(_findings(verification, "contention", await run.account()))


async def kill(verification: Verification) -> list[Finding]:
    """Processes are killed and frozen in the midst; others take over what they had."""
    if not _is_shared(verification):
        return [_not_tried(verification, "kill", "only one process can use it")]
    kills = 1 if verification.orders.quick else 4
    async with verification.running("kill") as run:
        crowd = await run.processes.start_many(PROCESSES)
        for _ in range(kills):
            await _wave(run, crowd[0])
            await end(crowd.pop(0))
            crowd.append(await run.processes.start())
        await _wave(run, crowd[0])
        await _frozen(run, crowd[0])
        await run.quiet()
        # The frozen process has still to learn that its reports are too late.
        await until(lambda: _has_reported(run, crowd[0]), 10.0)
        account = await run.account()
        await run.processes.end_all()
        account.unfenced += await late_report(run.store, await run.now())
    seen = f"{account.lost_attempts} attempts taken over, {account.refused} late reports refused"
    fencing = _finding("fencing", "kill", verification.promises.fencing, account.unfenced, seen)
    return [*_findings(verification, "kill", account), fencing]


async def skew(verification: Verification) -> list[Finding]:
    """Two processes whose clocks are an hour fast and an hour slow."""
    if not verification.promises.clock.startswith("the server"):
        why = "all processes of the host have its one clock"
        return [_not_tried(verification, "skew", why, "clock", verification.promises.clock)]
    async with verification.running("skew") as run:
        await asyncio.gather(run.processes.start(HOUR), run.processes.start(-HOUR))
        first = await run.now() + 1000
        last = first + (2000 if verification.orders.quick else 8000)
        await run.add_every(10, _PERIOD, first, last, 0.0)
        await run.quiet()
        return list(
            _findings(verification, "skew", await run.account(), verification.promises.clock)
        )


SUITES: dict[str, Callable[[Verification], Awaitable[list[Finding]]]] = {
    "contract": contract,
    "contention": contention,
    "kill": kill,
    "skew": skew,
}


def _is_shared(verification: Verification) -> bool:
    return not verification.scratch.url.startswith("memory:")


async def _wave(run: Run, process: Process) -> None:
    """Add work for some seconds; returns when the process has begun some of it."""
    before = _begun(run, process)
    first = await run.now() + 1000
    await run.add_every(10, _PERIOD, first, first + _WAVE, _NAP)

    async def has_begun() -> bool:
        return _begun(run, process) > before

    await until(has_begun, 10.0)


def _begun(run: Run, process: Process) -> int:
    return sum(note.process == process.pid for note in run.notes())


async def _frozen(run: Run, process: Process) -> None:
    """Freeze it until another process has taken over its work."""

    async def is_taken_over() -> bool:
        seen = run.notes()
        its = {note.execution: note.attempt for note in seen if note.process == process.pid}
        return any(note.attempt > its.get(note.execution, note.attempt) for note in seen)

    freeze(process)
    try:
        await until(is_taken_over, TIMEOUT)
    finally:
        thaw(process)


async def _has_reported(run: Run, process: Process) -> bool:
    return any(note.what == FENCED and note.process == process.pid for note in run.notes())


def _findings(
    verification: Verification, suite: str, account: Account, clock: str = "yes"
) -> Iterator[Finding]:
    promises, fires = verification.promises, account.fires
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
        wrong=wrong[:_MAX_LISTED],
    )


def _not_tried(
    verification: Verification,
    suite: str,
    why: str,
    promise: str = "many hosts",
    promised: str = "",
) -> Finding:
    return Finding(
        promise=promise,
        suite=suite,
        promised=promised or verification.promises.many_hosts,
        result=Result.NOT_TRIED,
        seen=why,
    )
