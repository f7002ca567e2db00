"""The API on a store, without an engine: `python -m bench.ours.api WHERE [METRICS_TTL]`."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.ours.listen import serve
from bench.ours.process import url_of
from tickwell.declared.internals import internals
from tickwell.domain.health import ProcessHealth
from tickwell.scheduler import Scheduler
from tickwell.settings import Settings
from tickwell.web.access import first_start
from tickwell.wiring import make_api

# One user on their own machine: who asks is known, what is changed is audited all the same.
settings = Settings(auth=False, metrics_ttl=sys.argv[2] if len(sys.argv) > 2 else "5s")
scheduler = Scheduler(url_of(sys.argv[1]), settings=settings)


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    await scheduler.open()
    await first_start(app.state.context, context)
    yield
    await scheduler.stop()


context = internals(scheduler).operation_context()
app = make_api(
    context,
    health=lambda: ProcessHealth(ok=True),
    settings=scheduler.settings,
    events=internals(scheduler).events,
)
app.router.lifespan_context = lifespan

if __name__ == "__main__":
    serve(app)
