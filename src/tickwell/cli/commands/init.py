"""`tickwell init`: a small project that runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tickwell.cli.output.screen import Screen

_JOBS = '''"""The jobs of this project. Run them: tickwell serve --app jobs:scheduler"""

from tickwell import Cron, Every, Retry, Scheduler

scheduler = Scheduler("sqlite:///tickwell.db", app="{name}")


@scheduler.job(Every("10s"))
async def tick() -> None:
    print("tick")


@scheduler.job(Cron("0 9 * * mon-fri", tz="Europe/Rome"), retry=Retry(max_attempts=5, delay="30s"))
def report() -> None:
    """Sync functions run in a thread."""
    print("the report of the day")


@scheduler.job()
async def greet(name: str = "you") -> str:
    """On demand: tickwell jobs trigger greet --payload '{{"name": "Ada"}}'"""
    return f"Hello, {{name}}!"


if __name__ == "__main__":
    scheduler.run()
'''
_SETTINGS = """# Settings of the commands in this folder; `tickwell config show` lists them all.
store = "sqlite:///tickwell.db"

# Webhooks to programs on this machine, while you try things out:
# allow_http = true
# allow_private = ["127.0.0.0/8"]
# allow_ports = ["1-65535"]
"""
#: The key seals the secrets of the store: it must not be where code is shared.
_IGNORED = ".env\ntickwell.db\ntickwell.db-shm\ntickwell.db-wal\ntickwell.db.key\n__pycache__/\n"


def init(
    *,
    folder: Annotated[
        Path, typer.Argument(help="Target folder; created if it is missing.")
    ] = Path(),
) -> None:
    """Create a small project that runs: jobs.py, tickwell.toml and .gitignore."""
    from tickwell.errors import InvalidInput

    files = {
        "jobs.py": _JOBS.format(name=folder.resolve().name or "app"),
        "tickwell.toml": _SETTINGS,
        ".gitignore": _IGNORED,
    }
    jobs = folder / "jobs.py"
    if jobs.exists():
        raise InvalidInput(
            f"{jobs} exists already",
            field="folder",
            hint="Choose another folder; nothing was written",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            if not (folder / name).exists():
                (folder / name).write_text(text, "utf-8")
    except OSError as error:
        raise InvalidInput(
            f"{folder} cannot be written: {error.strerror}", field="folder"
        ) from None
    screen = Screen()
    screen.say(f"Wrote {jobs}. Now run it:")
    if folder.resolve() != Path.cwd():
        screen.say(f"  cd {folder}")
    screen.say("  tickwell serve --app jobs:scheduler")
    screen.say("and in another terminal:")
    screen.say("  tickwell jobs list")
