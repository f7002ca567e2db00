"""The command: fill a scratch store, then serve it."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated

import typer

from tickwell.domain.job import JobState
from tickwell.errors import InvalidSetting
from tickwell.ports.records import JobFilter

if TYPE_CHECKING:
    from tickwell.executors.run import Run
    from tickwell.scheduler import Scheduler


def demo(
    *,
    store: Annotated[
        str | None,
        typer.Option(help="Empty store to fill. Default: a temporary file."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free one.")
    ] = 8080,
    serve: Annotated[bool, typer.Option(help="Serve it; --no-serve only fills the store.")] = True,
    seed: Annotated[int, typer.Option(help="Seed of the example data.")] = 7,
) -> None:
    """Fill a scratch store with a week of example data, and serve it.

    About 40 jobs of a shop, with failures, dead letters and pauses. Webhooks go to this machine
    only. Authentication is off, and only this machine can reach it.
    """
    from tickwell.wiring import loop_factory

    if not serve and store is None:
        raise InvalidSetting(
            "without serving it, a scratch store would be deleted at once",
            field="store",
            hint="Name one to keep: tickwell demo --no-serve --store sqlite:///demo.db",
        )
    with (
        tempfile.TemporaryDirectory(prefix="tickwell-demo-") as folder,
        asyncio.Runner(loop_factory=loop_factory()) as runner,
    ):
        url = store or f"sqlite:///{Path(folder) / 'demo.db'}?synchronous=normal"
        runner.run(_demo(url, Path(folder), port, seed, serving=serve))


async def _demo(url: str, folder: Path, port: int, seed: int, *, serving: bool) -> None:
    from tickwell.api.server import require_server
    from tickwell.cli.demo.history import fill
    from tickwell.cli.demo.receiver import DemoReceiver
    from tickwell.cli.serving.service import Service
    from tickwell.declared.internals import internals
    from tickwell.observe.log_output.output import start_log

    if serving:
        require_server()  # before a week is invented that nobody could look at
    random = Random(seed)
    scheduler = _scheduler(url, folder, random)
    inside = internals(scheduler)
    receiver = DemoReceiver(inside.clock, random)
    address = await receiver.start()
    await scheduler.open()
    operation_context = inside.operation_context()
    states = frozenset(JobState)
    if (await operation_context.store.list_jobs(JobFilter(states=states), limit=1)).items:
        await scheduler.stop()
        raise InvalidSetting(
            f"{scheduler.store_url} has jobs already",
            field="store",
            hint="Name an empty store: demo data does not belong among real jobs",
        )
    count = await fill(operation_context.store, operation_context.clock.now(), address, random)
    typer.echo(f"filled {scheduler.store_url}: {count:,} executions of a week", err=True)
    if not serving:
        await receiver.stop()
        await scheduler.stop()
        return
    await operation_context.executions.trigger(
        "default", "train-recommender"
    )  # no worker here knows it
    roles = frozenset({"api", "planner", "worker"})
    log = start_log("console", "error")  # many of its executions fail, as invented
    service = Service(
        scheduler,
        roles=roles,
        workers=0,
        http=True,
        host="127.0.0.1",
        port=port,
        supervised=False,
        app=None,
        local=True,
        log=log,
    )
    await service.run()
    await receiver.stop()


def _scheduler(url: str, folder: Path, random: Random) -> Scheduler:
    from tickwell.cli.config.allowing import LOCAL
    from tickwell.cli.demo.shop import HANDLERS, QUEUES
    from tickwell.declared.internals import internals
    from tickwell.executors.handlers import Handler
    from tickwell.scheduler import Scheduler
    from tickwell.settings import Settings

    async def work(run: Run) -> dict[str, int]:
        """Some seconds, with progress, a line for each part."""
        parts = random.randrange(4, 9)
        for part in range(parts):
            run.log.info("part %d of %d", part + 1, parts)
            run.progress((part + 1) / parts)
            await internals(scheduler).clock.wait(asyncio.Event(), random.random() * 2)
        return {"parts": parts}

    settings = Settings(auth=False, queues=QUEUES, secret_key_file=str(folder / "demo.key"))
    scheduler = Scheduler(url, settings=replace(settings, **LOCAL))
    for name in HANDLERS:
        internals(scheduler).handlers.register(Handler(name, work))
    return scheduler
