"""Names of jobs for the shell's completion."""

from __future__ import annotations

import asyncio
import os

import typer

from tickwell.cli.command import connect

#: Names that are worth showing.
_MOST = 50


def complete_job(context: typer.Context, incomplete: str) -> list[str]:
    """Jobs whose name begins so; none when the store cannot be asked, for a shell waits."""
    store = context.params.get("store") or os.environ.get("TICKWELL_STORE")
    project = context.params.get("project") or os.environ.get("TICKWELL_PROJECT") or "default"
    try:
        return asyncio.run(_names(store, project, incomplete))
    except Exception:  # noqa: BLE001 - a traceback in the middle of a command line helps nobody
        return []


async def _names(store: str | None, project: str, incomplete: str) -> list[str]:
    from tickwell.ports.records import JobFilter

    backend = connect(store, project)
    try:
        page = await backend.jobs_list(JobFilter(search=incomplete or None), None, _MOST)
    finally:
        await backend.close()
    return [job["name"] for job in page["items"] if job["name"].startswith(incomplete)]
