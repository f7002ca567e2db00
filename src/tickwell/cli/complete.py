"""Names of jobs for the shell's completion."""

from __future__ import annotations

import asyncio
import os

import typer

from tickwell.cli.command import connect

#: Names that are worth showing.
_MOST = 50


def complete_job(context: typer.Context, incomplete: str) -> list[str]:
    """Jobs whose name begins so; none when nobody can be asked, for a shell waits."""
    shared = {
        name: context.params.get(name) or os.environ.get(variable)
        for name, variable in (
            ("store", "TICKWELL_STORE"),
            ("server", "TICKWELL_SERVER"),
            ("api_key", "TICKWELL_KEY"),
            ("project", "TICKWELL_PROJECT"),
        )
    }
    try:
        return asyncio.run(_names(shared, incomplete))
    except Exception:  # noqa: BLE001 - a traceback in the middle of a command line helps nobody
        return []


async def _names(shared: dict[str, str | None], incomplete: str) -> list[str]:
    from tickwell.ports.records import JobFilter

    backend = connect(**shared)
    try:
        page = await backend.jobs_list(JobFilter(search=incomplete or None), None, _MOST)
    finally:
        await backend.close()
    return [job["name"] for job in page["items"] if job["name"].startswith(incomplete)]
