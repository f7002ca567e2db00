"""An application for `celery -A tests.celery.app worker`.

What it is to do is in the environment: TICKWELL_TEST_CALLS, a file, TICKWELL_TEST_SETTINGS, and
TICKWELL_TEST_STORE.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.processes.agent import break_if_asked
from tests.processes.handlers import RecordingHandlers
from tests.processes.journal import Journal
from tickwell.celery import make_app
from tickwell.declared.internals import internals
from tickwell.executors.run import Run
from tickwell.scheduler import Scheduler
from tickwell.settings import Settings

break_if_asked()
_chosen: dict[str, Any] = {
    name: tuple(one) if isinstance(one, list) else one
    for name, one in json.loads(os.environ["TICKWELL_TEST_SETTINGS"]).items()
}
_settings = Settings(**_chosen)
scheduler = Scheduler(os.environ["TICKWELL_TEST_STORE"], settings=_settings)
_recording = RecordingHandlers(Journal(Path(os.environ["TICKWELL_TEST_CALLS"])))


def tell(until: str, run: Run) -> str:
    """A sync handler that reports progress, prints, and waits to be cancelled or let go."""
    _recording.note("begin", run)
    sys.stdout.write("told by the handler\n")
    run.progress(0.42, "under way")
    while not Path(until).exists() and not run.cancelled.wait("10ms"):
        pass
    return "cancelled" if run.cancelled else "let go"


for _handler in _recording.registered().all():
    internals(scheduler).handlers.add(_handler.name, _handler.function)
internals(scheduler).handlers.add("tell", tell)
app = make_app(scheduler)
