"""The service on a real listener, in a thread of its own."""

import asyncio
import socket
import threading
import time

from tickwell import Scheduler, Settings
from tickwell.api.server import serve
from tickwell.declared.internals import internals
from tickwell.web.access import first_start
from tickwell.wiring import make_api


class Served:
    """Runs until it is left; `url` is its address, `key` and `link` are the first ways in."""

    def __init__(self, store, **settings):
        self.store = store
        self.settings = settings

    def __enter__(self):
        self.sock = socket.socket()
        self.sock.bind(("127.0.0.1", 0))
        self.sock.listen()
        self.url = f"http://127.0.0.1:{self.sock.getsockname()[1]}"
        self.ready = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self._main()))
        self.thread.start()
        assert self.ready.wait(100)
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.stopping.set)
        self.thread.join()
        self.sock.close()

    def wait_until_watched(self):
        """Until what changes in the project is told."""
        while not self.context.feed.looked("default"):
            time.sleep(0.01)

    async def _main(self):
        self.loop, self.stopping = asyncio.get_running_loop(), asyncio.Event()
        settings = Settings(store=self.store, **self.settings)
        scheduler = Scheduler(self.store, settings=settings)
        await scheduler.open()
        operation_context = internals(scheduler).operation_context()
        app = make_api(
            operation_context,
            health=scheduler.health,
            settings=scheduler.settings,
            events=internals(scheduler).events,
        )
        self.context = app.state.context
        first = await first_start(self.context, operation_context)
        self.key = first.key if first else ""
        self.link = first.link_token if first else ""
        server = asyncio.create_task(serve(app, self.sock))
        self.ready.set()
        await self.stopping.wait()
        await self.context.close()
        server.cancel()
        await asyncio.gather(server, return_exceptions=True)
        await scheduler.stop()
