"""An application for `tickwell serve --app tests.processes.app:scheduler`.

What it is to do is in the environment: TICKWELL_TEST_CALLS, a file, and TICKWELL_TEST_SETTINGS.
"""

import json
import os
from pathlib import Path

from tests.processes.handlers import RecordingHandlers
from tests.processes.journal import Journal
from tickwell.declared.internals import internals
from tickwell.scheduler import Scheduler
from tickwell.settings import Settings

_settings = Settings(**json.loads(os.environ["TICKWELL_TEST_SETTINGS"]))
scheduler = Scheduler("memory://", settings=_settings)
_recording = RecordingHandlers(Journal(Path(os.environ["TICKWELL_TEST_CALLS"])))
for _handler in _recording.registered().all():
    internals(scheduler).handlers.add(_handler.name, _handler.function)
