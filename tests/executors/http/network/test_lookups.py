"""Lookups by the operating system: limits for each project, and failures that are remembered."""

import asyncio
import socket
import threading
from collections import Counter
from contextvars import copy_context

import pytest

from tests.executors.http.conftest import a_claim
from tickwell.domain.http import Http
from tickwell.executors.http.network import guard as guards
from tickwell.executors.http.network import resolver as resolvers
from tickwell.executors.http.network.guard import Guard, Refused
from tickwell.executors.http.network.resolver import (
    FAILURE_LIFE,
    PER_PROJECT,
    PROJECT,
    LookupLimit,
    SystemResolver,
)

PUBLIC = "93.184.216.34"


class Names:
    """Blocks as the operating system does: names that begin with "stall" until released."""

    def __init__(self, answer=PUBLIC):
        self.answer = answer
        self.asked: Counter[str] = Counter()
        self.threads = []
        self._began = threading.Semaphore(0)
        self._released = threading.Event()

    def __call__(self, host):
        self.asked[host] += 1
        self.threads.append(threading.current_thread())
        if host.startswith("stall"):
            self._began.release()
            self._released.wait(60)
        if isinstance(self.answer, Exception):
            raise self.answer
        return [self.answer]

    async def stalled(self, count):
        """Wait until so many more stall."""
        for _ in range(count):
            await asyncio.to_thread(self._began.acquire)

    def release(self):
        self._released.set()


#: Seconds: no test ends by a limit that it does not test, however slow the machine is.
LIMIT = 100.0


@pytest.fixture(autouse=True)
def _limits(monkeypatch):
    monkeypatch.setattr(resolvers, "LIMIT", LIMIT)
    monkeypatch.setattr(guards, "LOOKUP_LIMIT", LIMIT)


@pytest.fixture
def names():
    names = Names()
    yield names
    names.release()


class Seconds:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def seconds():
    return Seconds()


@pytest.fixture
def resolver(names, seconds):
    return SystemResolver(names, monotonic=seconds)


def look_up(resolver, host, project):
    """A task that asks on behalf of a project."""
    context = copy_context()
    context.run(PROJECT.set, project)
    return asyncio.create_task(resolver.resolve(host), context=context)


async def test_names_that_stall_for_one_project_hold_up_no_other(resolver, names):
    noisy = [look_up(resolver, f"stall{number}.test", "noisy") for number in range(48)]
    await names.stalled(PER_PROJECT)
    quiet = [look_up(resolver, f"{number}.test", "quiet") for number in range(40)]
    assert await asyncio.gather(*quiet) == [[PUBLIC]] * 40
    assert len(names.asked) == PER_PROJECT + 40
    names.release()
    assert await asyncio.gather(*noisy) == [[PUBLIC]] * 48
    assert set(names.asked.values()) == {1}


async def test_webhooks_of_a_project_survive_the_stalling_names_of_another(
    make_executor, receive, names
):
    receiver = await receive()
    names.answer = "127.0.0.1"
    executor = make_executor(resolver=SystemResolver(names), per_host=100)

    def send(host, project):
        target = Http(receiver.url(host=host), timeout="100s")
        return asyncio.create_task(executor.run(a_claim(target, policies={"project": project})))

    noisy = [send(f"stall{number}.test", "noisy") for number in range(48)]
    await names.stalled(PER_PROJECT)
    outcomes = await asyncio.gather(*(send(f"{n}.test", "quiet") for n in range(40)))
    assert Counter(outcome.kind for outcome in outcomes) == {"succeeded": 40}
    for task in noisy:
        task.cancel()
    await asyncio.gather(*noisy, return_exceptions=True)


async def test_who_gives_up_does_not_take_the_answer_from_others(resolver, names):
    first, second = (look_up(resolver, "stall.test", "p") for _ in range(2))
    await names.stalled(1)
    first.cancel()
    names.release()
    assert await second == [PUBLIC]
    assert names.asked == {"stall.test": 1}


async def test_projects_that_ask_for_one_name_at_once_ask_once(resolver, names):
    asking = [look_up(resolver, "stall.test", f"p{number}") for number in range(20)]
    await names.stalled(1)
    names.release()
    assert await asyncio.gather(*asking) == [[PUBLIC]] * 20
    assert names.asked == {"stall.test": 1}


async def test_who_waits_for_a_slot_and_gives_up_keeps_it_from_nobody(resolver, names):
    busy = [look_up(resolver, f"stall{number}.test", "p") for number in range(PER_PROJECT)]
    await names.stalled(PER_PROJECT)
    waiting = [look_up(resolver, f"{number}.test", "p") for number in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    names.release()
    assert await asyncio.gather(*busy, *waiting[1:]) == [[PUBLIC]] * (PER_PROJECT + 2)
    assert names.asked["0.test"] == 0


async def test_a_failure_is_remembered_for_its_project(resolver, names, seconds):
    names.answer = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    for project, asked in (("a", 1), ("a", 1), ("b", 2), ("b", 2), ("a", 2)):
        with pytest.raises(socket.gaierror, match="Name or service not known"):
            await look_up(resolver, "missing.test", project)
        assert names.asked == {"missing.test": asked}
    names.answer = PUBLIC
    seconds.now += FAILURE_LIFE
    assert await look_up(resolver, "missing.test", "a") == [PUBLIC]
    assert await look_up(resolver, "missing.test", "a") == [PUBLIC]  # answers are not
    assert names.asked == {"missing.test": 4}


async def test_a_failure_that_came_after_all_gave_up_is_remembered_too(resolver, names):
    asking = look_up(resolver, "stall.test", "p")
    await names.stalled(1)
    asking.cancel()
    names.answer = OSError("no answer")
    names.release()
    await asyncio.to_thread(names.threads[0].join)
    with pytest.raises(OSError, match="no answer"):
        await look_up(resolver, "stall.test", "p")
    assert names.asked == {"stall.test": 1}


async def test_a_name_that_stalls_is_asked_for_once_by_its_project(resolver, names, seconds):
    first = look_up(resolver, "stall.test", "a")
    await names.stalled(1)
    first.cancel()
    seconds.now += LIMIT
    with pytest.raises(OSError, match="asked for 100 s ago, without an answer"):
        await look_up(resolver, "stall.test", "a")
    assert names.asked == {"stall.test": 1}
    other = look_up(resolver, "stall.test", "b")  # it may be answered now
    await names.stalled(1)
    names.release()
    assert await other == [PUBLIC]
    assert names.asked == {"stall.test": 2}


async def test_nobody_waits_longer_than_the_limit(names, monkeypatch):
    monkeypatch.setattr(resolvers, "LIMIT", 0.01)
    resolver = SystemResolver(names)
    asking = [look_up(resolver, f"stall{number}.test", "p") for number in range(PER_PROJECT + 1)]
    outcomes = await asyncio.gather(*asking, return_exceptions=True)
    assert Counter(str(each).partition(" ")[2] for each in outcomes) == {
        "was not resolved within 0.01 s": PER_PROJECT + 1
    }


async def test_a_process_that_ends_waits_for_no_lookup(resolver, names):
    await look_up(resolver, "a.test", "p")
    assert [thread.daemon for thread in names.threads] == [True]


async def test_what_cannot_be_a_name_is_an_error_of_its_own(resolver, names):
    names.answer = UnicodeError("label too long")
    for asked in (1, 2):
        with pytest.raises(UnicodeError):
            await look_up(resolver, "a.test", "p")
        assert names.asked["a.test"] == asked


async def test_every_address_of_the_system_is_judged(monkeypatch):
    found = [PUBLIC, "127.0.0.1", PUBLIC]
    answer = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, 0)) for each in found]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answer)
    with pytest.raises(Refused, match=r"127\.0\.0\.1 is not a public address"):
        await Guard().look_up("mixed.test", 443, SystemResolver())


async def test_slots_are_counted_by_project_and_together():
    slots = LookupLimit(per_project=2, total=3)
    granted = []

    async def enter(project):
        await slots.enter(project)
        granted.append(project)

    async def settle():
        for _ in range(3):
            await asyncio.sleep(0)

    tasks = [asyncio.create_task(enter(project)) for project in "aaabbbc"]
    await settle()
    assert granted == ["a", "a", "b", "c"]  # c has none yet, and need not wait for the others
    slots.leave("c")
    await settle()
    assert len(granted) == 4  # three are the most together
    slots.leave("a")
    await settle()
    assert granted[4:] == ["a"]
    slots.leave("a")
    await settle()
    assert granted[5:] == ["b"]
    slots.leave("b")
    await settle()
    assert granted[6:] == ["b"]
    await asyncio.gather(*tasks)
