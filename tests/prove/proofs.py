"""The proofs: each does something bad to processes for as long as it is told to."""

import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.processes.site import Site
from tests.prove import mongo, mysql, postgres, redis
from tests.prove.crew import Crew
from tests.prove.load import add_load
from tests.prove.nemesis import Nemesis
from tests.prove.receiver import Receiver
from tests.prove.resources import Resources
from tests.prove.verdict import Verdict
from tests.prove.webhooks import SENDING, Edits, add_webhooks

Proof = Callable[[Site, Crew, Verdict, float], None]


def random_kills(site: Site, crew: Crew, verdict: Verdict, seconds: float) -> None:
    """One of three is killed every 0.5 to 3 seconds, and comes back after 0 to 2."""
    add_load(site, seconds)
    end = time.monotonic() + seconds
    back: dict[int, float] = {}
    strike = time.monotonic() + 2
    while (now := time.monotonic()) < end:
        for number in [number for number, at in back.items() if at <= now]:
            del back[number]
            crew.replace(number)
        if now >= strike:
            alive = [number for number in range(len(crew.members)) if number not in back]
            if alive:
                number = crew.random.choice(alive)
                crew.kill(number)
                back[number] = now + crew.random.uniform(0, 2)
            strike = now + crew.random.uniform(0.5, 3)
        time.sleep(0.02)
    for number in back:
        crew.replace(number)


def kill_all(site: Site, crew: Crew, verdict: Verdict, seconds: float) -> None:
    """All at once, up to twenty times; they come back in any order."""
    add_load(site, seconds)
    times = max(3, min(20, int(seconds / 6)))
    for _ in range(times):
        time.sleep(max(seconds / times - 1, 1))
        for number in range(len(crew.members)):
            crew.kill(number)
        order = list(range(len(crew.members)))
        crew.random.shuffle(order)
        for number in order:
            crew.replace(number)
            time.sleep(crew.random.uniform(0, 0.3))


def freeze(site: Site, crew: Crew, verdict: Verdict, seconds: float) -> None:
    """Everything stands still, as on a closed laptop; nobody was lost by it."""
    add_load(site, seconds)
    for member in crew.members:
        member.wait_for("Started")
    time.sleep(2)
    crew.freeze(seconds * 0.6)
    time.sleep(seconds * 0.2)


def rolling_restart(site: Site, crew: Crew, verdict: Verdict, seconds: float) -> None:
    """One is asked to stop every five seconds: nothing is lost, and no attempt either."""
    add_load(site, seconds)
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        time.sleep(min(5.0, max(end - time.monotonic(), 0)))
        code = crew.stop(number % len(crew.members))
        if code != 0:
            verdict.violations.append(f"a process that was asked to stop ended with {code}")
        crew.replace(number % len(crew.members))
        number += 1


def busy_storm(site: Site, crew: Crew, verdict: Verdict, seconds: float) -> None:
    """Another program writes to the file all the time and keeps the lock for up to 0.3 s."""
    add_load(site, seconds)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        lock = sqlite3.connect(site.folder / "jobs.db", isolation_level=None, timeout=30)
        lock.execute("BEGIN IMMEDIATE")
        time.sleep(crew.random.uniform(0, 0.3))
        lock.execute("ROLLBACK")
        lock.close()
        crew.faults += 1
        time.sleep(crew.random.uniform(0, 0.05))


def terminations(site: Site, crew: Crew, verdict: Verdict, seconds: float) -> None:
    """Somebody ends all connections to the server, about twice a second."""
    add_load(site, seconds)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        verdict.figures["terminated"] = verdict.figures.get("terminated", 0) + postgres.terminate(
            site.store
        )
        crew.faults += 1
        time.sleep(crew.random.uniform(0.2, 0.8))


def cuts(site: Site, crew: Crew, verdict: Verdict, seconds: float) -> None:
    """The same on other servers."""
    add_load(site, seconds)
    for member in crew.members:
        member.wait_for("Started")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        verdict.figures["cut"] = verdict.figures.get("cut", 0) + _server(site).cut_connections()
        crew.faults += 1
        time.sleep(crew.random.uniform(0.2, 0.8))


def crashes(site: Site, crew: Crew, verdict: Verdict, seconds: float) -> None:
    """The server is killed every few seconds, and comes back at once."""
    add_load(site, seconds)
    for member in crew.members:
        member.wait_for("Started")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(crew.random.uniform(1, 4))
        _server(site).crash()
        crew.faults += 1


def standstill(site: Site, crew: Crew, verdict: Verdict, seconds: float) -> None:
    """The server stands still for longer than any lease; nobody is lost by it, and work goes on."""
    add_load(site, seconds)
    for member in crew.members:
        member.wait_for("Started")
    site.wait_for_calls(1)
    server = _server(site).durable()
    server.freeze()
    crew.faults += 1
    time.sleep(seconds / 2)
    called = len(site.begun())
    server.thaw()
    thawed = time.monotonic()
    site.wait_for_calls(called + 1)
    verdict.figures["s to the first call"] = time.monotonic() - thawed


def webhooks(site: Site, crew: Crew, verdict: Verdict, seconds: float) -> None:
    """Processes freeze past their leases and die, and the server with them, while jobs are edited.

    What arrived at the receiver is on record.
    """
    with Receiver(site.calls, crew.random.random()) as receiver:
        edits = Edits(site, add_webhooks(site, receiver, seconds))
        for member in crew.members:
            member.wait_for("Started")
        edits.start()
        nemesis, end = Nemesis(crew, _server(site).crash), time.monotonic() + seconds
        while time.monotonic() < end:
            nemesis.strike()
            rest = time.monotonic() + crew.random.uniform(0.3, 2.5)
            while time.monotonic() < min(rest, end):
                nemesis.heal()
                time.sleep(0.02)
        edits.end()
        nemesis.heal(at_once=True)
        verdict.figures["edits"] = edits.made
        if not edits.made:
            verdict.violations.append("no edit was made")
        verdict.heal(site)


def _server(site: Site) -> Any:
    """The module of the server that a site is on."""
    modules = {"postgresql": postgres, "mysql": mysql, "mongodb": mongo, "redis": redis}
    return modules[site.store.partition(":")[0]]


def soak(site: Site, crew: Crew, verdict: Verdict, seconds: float) -> None:
    """A hundred fires a second, a tenth of which fail at first: memory, files and tasks stay."""
    add_load(site, seconds, jobs=100)
    resources = Resources(crew)
    done = threading.Event()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done.wait(min(1.0, seconds / 60))
        resources.look()
    verdict.figures |= resources.slopes()
    verdict.violations += resources.violations()


@dataclass(frozen=True)
class Plan:
    """A proof, its share of the time, and whether it costs anybody an attempt."""

    proof: Proof
    share: float
    loses: bool = False
    #: Whether each skip must have its true reason: no process stands still while others go on.
    by_reason: bool = False
    #: The store that it attacks, as its URL begins.
    store: str = "sqlite"
    #: Settings of processes that send webhooks; none: they send none.
    sending: dict[str, Any] | None = None


ANYWHERE = {
    "random-kills": Plan(random_kills, 0.25, loses=True),
    "kill-all": Plan(kill_all, 0.15, loses=True),
    "freeze": Plan(freeze, 0.1),
    "rolling-restart": Plan(rolling_restart, 0.15),
    "soak": Plan(soak, 0.25),
}
PROOFS = {
    **ANYWHERE,
    "busy-storm": Plan(busy_storm, 0.1),
    **{
        f"{name}-{store}": replace(plan, store=store)
        for store in ("postgresql", "mysql", "mongodb", "redis")
        for name, plan in ANYWHERE.items()
    },
    # Who is cut off long enough by bad luck is declared lost.
    "terminations-postgresql": Plan(terminations, 0.1, loses=True, store="postgresql"),
    "cuts-mysql": Plan(cuts, 0.1, loses=True, store="mysql"),
    "cuts-redis": Plan(cuts, 0.1, loses=True, store="redis"),
    **{
        f"standstill-{store}": Plan(standstill, 0.1, store=store)
        for store in ("postgresql", "mysql", "mongodb", "redis")
    },
    **{
        f"webhooks-{store}": Plan(webhooks, 0.1, loses=True, store=store, sending=SENDING)
        for store in ("postgresql", "mysql", "mongodb", "redis")
    },
    **{
        f"crashes-{store}": Plan(crashes, 0.1, loses=True, by_reason=True, store=store)
        for store in ("postgresql", "mysql", "mongodb", "redis")
    },
}
