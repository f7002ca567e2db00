"""Event loops: a thread runs one at a time."""

from __future__ import annotations

import asyncio

from tickwell.errors import NotRunning


def refuse_a_loop(why: str) -> None:
    """Say why, where an event loop runs: what is called would stop it, or needs its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise NotRunning(why)
