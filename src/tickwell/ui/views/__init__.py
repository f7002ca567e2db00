"""One module for each page."""

from __future__ import annotations

from tickwell.ui import files, live
from tickwell.ui.views import job, jobs, overview, preferences

ROUTERS = (files.router, live.router, overview.router, jobs.router, job.router, preferences.router)
