"""Three web workers, a scheduler in each, one SQLite file: every fire runs once.

The application here is a bare asyncio server; with a framework that has a lifespan, pass
`scheduler.lifespan` to it. Run without arguments, this starts three such processes, stops them
after eight fires, and counts.

It prints:
    each fire ran once
"""

import asyncio
import sys
from collections import Counter

from tickwell import Every, Run, Scheduler

scheduler = Scheduler("sqlite:///web_workers.db", app="shop")


@scheduler.job(Every("500ms"))
async def refresh(run: Run) -> None:
    """Print the fire time; the parent counts the lines of all workers."""
    print(f"fire {run.fire_time.timestamp()}", flush=True)


async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The web application: returns the health of its scheduler."""
    writer.write(b"HTTP/1.0 200 OK\r\n\r\n" + str(scheduler.health()).encode())
    writer.close()


async def serve_web() -> None:
    """One web worker: the scheduler lives as long as the application."""
    async with scheduler.lifespan():
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # until closed


async def main() -> None:
    """Start three, read what they print, stop them."""
    lines: asyncio.Queue[str] = asyncio.Queue()
    workers = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            __file__,
            "worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        for _ in range(3)
    ]

    async def read(worker: asyncio.subprocess.Process) -> None:
        assert worker.stdout is not None  # noqa: S101
        async for line in worker.stdout:
            lines.put_nowait(line.decode().strip())

    readers = [asyncio.create_task(read(worker)) for worker in workers]
    ran = Counter([await lines.get() for _ in range(8)])
    for worker in workers:
        assert worker.stdin is not None  # noqa: S101
        worker.stdin.close()
    await asyncio.gather(*readers, *(worker.wait() for worker in workers))
    while not lines.empty():
        ran[lines.get_nowait()] += 1
    twice = [line for line, count in ran.items() if count > 1]
    print(f"{len(ran)} fires by {len(workers)} processes, more than once: {twice}")
    print("each fire ran once" if not twice else "something is broken")


if __name__ == "__main__":
    asyncio.run(serve_web() if sys.argv[1:] else main())
