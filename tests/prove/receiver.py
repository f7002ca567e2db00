"""A receiver of webhooks that notes every request before it does anything else."""

import asyncio
import random
import threading
from pathlib import Path
from typing import Self

from aiohttp import web

from tests.processes.handlers import SLACK
from tests.processes.journal import Journal
from tickwell.clock import wall_millis

#: Of the requests so many are answered later than a lease ends, after so many seconds.
SLOW, LATE = 0.04, 3.0


class Receiver:
    """Runs in a thread of its own: whatever is done to others, it answers."""

    def __init__(self, calls: Path, seed: float, slow: float = SLOW) -> None:
        self._slow = slow
        self._journal = Journal(calls)
        self._random = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._up = threading.Event()
        self._released = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        self._up.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def release(self) -> None:
        """Answer what is held, and what comes."""
        self._loop.call_soon_threadsafe(self._released.set)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path}"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        runner = self._loop.run_until_complete(self._start())
        self._up.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    async def _start(self) -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/{what}", self._receive)
        # Who hangs up is noticed: a request of a process that was killed is not worked on.
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]
        return runner

    async def _receive(self, request: web.Request) -> web.Response:
        attempt, job = int(request.headers["tickwell-attempt"]), request.headers["tickwell-job"]
        id = request.headers["webhook-id"]
        self._journal.write("begin", id, attempt, job, at=wall_millis(), slack=SLACK)
        if self._random.random() < self._slow:
            await asyncio.sleep(LATE)
        match request.match_info["what"]:
            case "nap":
                await asyncio.sleep(0.2)
            case "hold":  # until it is released, or the caller hangs up
                try:
                    await self._released.wait()
                finally:
                    self._journal.write("end", id, attempt, job, at=wall_millis(), slack=SLACK)
            case "fail_first" if attempt % 3 == 1:
                return web.Response(status=500)
            case "busy" if attempt % 2 == 1:
                return web.Response(status=503, headers={"Retry-After": "1"})
        return web.Response()
