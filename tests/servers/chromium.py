"""The Chromium of this machine: TICKWELL_TEST_CHROMIUM, or Debian's."""

import os
import shutil


def chromium() -> str:
    """The one without windows if it is there: the same engine at half of the processor time."""
    given = os.environ.get("TICKWELL_TEST_CHROMIUM")
    return given or shutil.which("chromium-headless-shell") or "/usr/bin/chromium"
