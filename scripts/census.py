"""Counts what a newcomer has to find their way through: files, lines, imports, definitions.

`python -m scripts.census` prints a table of `src`. Run it in two checkouts to compare them.
"""

import asyncio
import random
import re
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import httpx

from tickwell import Cron
from tickwell.api.app import create_app
from tickwell.clock import StoreClock
from tickwell.domain.health import ProcessHealth
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.operations import OperationContext
from tickwell.stores.memory import MemoryStore
from tickwell.testing.kit import Kit
from tickwell.web.context import Context

SOURCE = Path(__file__).parent.parent / "src" / "tickwell"
SMALL = 50
STORES = {
    "memory": "tickwell.stores.memory.MemoryStore",
    "sqlite": "tickwell.stores.sqlite.store.SqliteStore",
    "postgres": "tickwell.stores.postgres.store.PostgresStore",
    "mysql": "tickwell.stores.mysql.store.MysqlStore",
    "mongo": "tickwell.stores.mongo.store.MongoStore",
    "redis": "tickwell.stores.redis.store.RedisStore",
}
#: A function, a protocol's method or an attribute that is named for the verb on jobs.
_PAUSE = re.compile(
    r"^\s*(?:async )?def (?:bulk_)?(?:jobs?_)?pause(?:_job)?\(|^\s+pause_job = ", re.MULTILINE
)
_IMPORT = re.compile(r"^(?:from \S+ import|import )", re.MULTILINE)


def files() -> dict[Path, str]:
    """Every Python file of `src` with its text."""
    return {path: path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.py"))}


def folders(texts: dict[Path, str]) -> dict[str, tuple[int, int]]:
    """Files and lines of each folder right below the package."""
    count: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for path, text in texts.items():
        parts = path.relative_to(SOURCE).parts
        name = parts[0] if len(parts) > 1 else "."
        count[name] += 1
        lines[name] += len(text.splitlines())
    return {name: (count[name], lines[name]) for name in sorted(count)}


def mro(name: str) -> int | None:
    """How many classes a store is made of by inheritance; None: it has another name here."""
    module, _, kind = name.rpartition(".")
    found = getattr(import_module(module), kind, None)
    return None if found is None else len(found.__mro__)


async def post_files() -> set[str]:
    """The files of `src` that a warm POST of a job runs through, on a memory store."""
    store = MemoryStore()
    await store.open()
    clock = StoreClock()
    clock.sample(await store.ping(), clock.monotonic(), clock.monotonic())
    operation_context = OperationContext(
        store=store, clock=clock, random=random.Random(1), wake=lambda: None
    )
    context = Context.over(operation_context, health=lambda: ProcessHealth(ok=True))

    async def admit(_request: Any) -> Actor:
        return Actor(name="local", project="default", permissions=frozenset(Permission))

    context.authenticate = admit
    transport = httpx.ASGITransport(app=create_app(context))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:

        async def post(name: str) -> None:
            job = {
                "name": name,
                "trigger": {"cron": "0 9 * * *"},
                "target": {"http": {"url": "https://example.com/hook"}},
            }
            (await http.post("/api/v1/jobs", json=job)).raise_for_status()

        for number in range(3):
            await post(f"warm-{number}")
        with Traced() as traced:
            await post("traced")
    await context.close()
    await store.close()
    return traced.seen


async def fire_files() -> set[str]:
    """The files of `src` that one warm fire of a cron job runs through, from plan to record.

    The engine runs on a memory store in virtual time; its loops do what they do in a minute.
    """
    async with Kit() as kit:

        @kit.job(Cron("* * * * *"))
        async def traced() -> None:
            pass

        await kit.travel("3m")
        with Traced() as found:
            await kit.travel("1m")
        await kit.assert_ran("traced", times=4)
    return {name for name in found.seen if not name.startswith("testing/")}


class Traced:
    """Notes the files of `src` whose functions are called."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def __enter__(self) -> Self:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: Any, event: str, _argument: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(SOURCE)):
            self.seen.add(name.removeprefix(f"{SOURCE}/"))


def main() -> None:
    """Print all figures."""
    texts = files()
    for name, (count, lines) in folders(texts).items():
        print(f"{name:14} {count:5} files {lines:7,} lines")
    small = sum(len(text.splitlines()) <= SMALL for text in texts.values())
    lines = sum(len(text.splitlines()) for text in texts.values())
    print(f"all: {len(texts)} files, {lines:,} lines, {small} files of {SMALL} lines or fewer")
    print(f"import lines: {sum(len(_IMPORT.findall(text)) for text in texts.values()):,}")
    for name, kind in STORES.items():
        print(f"MRO of {name}: {mro(kind)}")
    pauses = {path: len(_PAUSE.findall(text)) for path, text in texts.items()}
    named = {str(path.relative_to(SOURCE)): count for path, count in pauses.items() if count}
    print(f"definitions of pause: {sum(named.values())} in {len(named)} files: {named}")
    seen = sorted(asyncio.run(post_files()))
    print(f"files of a warm POST of a job: {len(seen)}")
    fired = sorted(asyncio.run(fire_files()))
    print(f"files of a warm fire of a cron job: {len(fired)}")
    if "--files" in sys.argv:
        print("\n".join([*seen, "", *fired]))


if __name__ == "__main__":
    main()
