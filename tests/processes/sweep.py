"""The kill sweep: the scenario is cut off at each of its store calls, in three places each.

    python -m tests.processes.sweep FOLDER kill|reset [STORE]

A child of this small process, which has no threads, is cut; then a survivor with a clock past the
lease takes over. In between nothing is waited for. Prints one JSON document. Each cut has a
store of its own, whose URL is STORE with the name of the cut for `{place}`.
"""

import asyncio
import gc
import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.checker import check
from tests.processes.faulty_store import Faults
from tests.processes.scenario import BEGIN, Scenario, history_of
from tickwell.errors import StoreUnavailable
from tickwell.wiring import make_store

#: When the survivor begins: the lease of whoever began at BEGIN is long over.
LATER = BEGIN + 60_000
#: A killed process leaves its writes to the system: what differs is a power cut, not tried here.
SQLITE = "sqlite:///{folder}/{place}/jobs.db?synchronous=normal"
#: Cuts under way at once; they wait for the disk more than they compute.
TOGETHER = 4
#: Calls that change nothing: those are cut before, and not after as well.
READS = {
    "ping",
    "claimable",
    "next_wakeup",
    "list_workers",
    "orphans",
    "list_executions",
    "list_jobs",
    "stats",
}

RESETS = ("reset before", "reset after")
SWEEPS = {
    "kill": ("kill before", "kill after", "kill with reply"),
    "reset": RESETS,
}


class Cut(Faults):
    """Ends the process, or the connection, at the nth call."""

    def __init__(self, where: str, nth: int) -> None:
        self.where = where
        self.left = nth
        self.method = ""

    async def before(self, method: str) -> None:
        self.left -= 1
        if self.left == 0:
            self.method = method
            if self.where == "kill before":
                kill()
            if self.where == "reset before":
                raise StoreUnavailable("the connection was reset before the call")

    async def after(self, method: str, answer: Any) -> Any:
        if self.left == 0 and self.method == method:
            self.left = -1
            if self.where == "kill after":
                kill()
            if self.where == "reset after":
                raise StoreUnavailable("the connection was reset before the answer")
            if self.where == "kill with reply":
                # The caller gets the answer and goes as far as it can without waiting.
                asyncio.get_running_loop().call_soon(kill)
        return answer


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Place:
    """Where one run of the scenario leaves its traces."""

    folder: Path
    #: The URL of its store.
    store: str

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.calls = self.folder / "calls"

    async def work(self, name: str, *faults: Faults, begin: int = BEGIN) -> None:
        store = make_store(self.store)
        await store.open()
        scenario = Scenario(store, self.calls, name, *faults, begin=begin)
        scenario.stride = 0.5 if begin == BEGIN else 2.5
        await scenario.run()
        await store.close()

    async def judge(self) -> list[str]:
        store = make_store(self.store)
        await store.open()
        history = await history_of(store, self.calls)
        await store.close()
        return [str(violation) for violation in check(history)]

    def called(self) -> list[str]:
        """Which attempts were called, to compare runs by."""
        lines = [json.loads(line) for line in self.calls.read_text().splitlines()]
        return sorted(f"{line['execution']} {line['attempt']}" for line in lines)


def fork(work: Any) -> int:
    """Do this in a child; its process id."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - whatever it is, it ends the child only
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            os._exit(1)
        os._exit(0)
    return pid


def cut_off(place: Place, where: str, nth: int, clean: list[str]) -> None:
    """One cut, its consequences, and the verdict into a file."""
    found: list[str] = []
    cut = Cut(where, nth)
    if where not in RESETS:
        _, status = os.waitpid(fork(lambda: asyncio.run(place.work("victim", cut))), 0)
        if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            found.append(f"the victim was not cut: status {status}")
        asyncio.run(place.work("survivor", begin=LATER))
    else:
        asyncio.run(place.work("victim", cut))
        if cut.left > 0:
            found.append("the connection was not cut")
        if (called := place.called()) != clean:
            # A lost answer costs nobody an attempt: the same call is made again.
            found.append(f"called {called} instead of {clean}")
    found += asyncio.run(place.judge())
    (place.folder / "verdict").write_text(json.dumps(found))


class Order(Faults):
    """Which methods were called, in order."""

    def __init__(self) -> None:
        self.methods: list[str] = []

    async def before(self, method: str) -> None:
        self.methods.append(method)


def rehearse(place: Place) -> tuple[list[str], list[str], list[str]]:
    """The scenario without a cut: which calls it makes of the store, and of handlers.

    In this process, not in a child: what it compiles and caches halves the cost of every cut. Its
    threads have ended with the store, and a fork copies none.
    """
    order = Order()
    asyncio.run(place.work("victim", order))
    found = asyncio.run(place.judge())
    gc.collect()
    gc.freeze()
    return order.methods, place.called(), found


def sweep(folder: Path, modes: tuple[str, ...], store: str) -> dict[str, Any]:
    """Every cut; what was found, by cut."""

    def place_of(name: str) -> Place:
        return Place(folder / name, store.format(folder=folder, place=name))

    methods, clean, found = rehearse(place_of("clean"))
    places: dict[int, tuple[str, Place]] = {}
    verdicts = {"clean": found}

    def reap() -> None:
        pid, _ = os.wait()
        name, place = places.pop(pid)
        verdict = place.folder / "verdict"
        written = verdict.exists()
        verdicts[name] = json.loads(verdict.read_text()) if written else ["no verdict"]

    for nth, method in enumerate(methods, 1):
        for where in modes:
            if method in READS and not where.endswith("before"):
                continue
            place = place_of(f"{where.replace(' ', '_')}_{nth}")
            pid = fork(lambda place=place, where=where, nth=nth: cut_off(place, where, nth, clean))
            places[pid] = f"{where} call {nth}, {method}", place
            if len(places) >= TOGETHER:
                reap()
    while places:
        reap()
    wrong = {name: verdict for name, verdict in verdicts.items() if verdict}
    writes = sum(method not in READS for method in methods)
    return {"calls": len(methods), "writes": writes, "cuts": len(verdicts) - 1, "wrong": wrong}


if __name__ == "__main__":
    store = sys.argv[3] if len(sys.argv) > 3 else SQLITE
    json.dump(sweep(Path(sys.argv[1]), SWEEPS[sys.argv[2]], store), sys.stdout)
