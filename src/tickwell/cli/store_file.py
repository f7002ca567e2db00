"""The file of a SQLite store: whether it is there, and who may read it."""

from __future__ import annotations

import shlex
import stat
from pathlib import Path

import typer

from tickwell.domain.health import Finding, Level
from tickwell.errors import InvalidSetting, StoreRefused
from tickwell.wiring import store_file

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def check_there(url: str) -> None:
    """Refuse to make an empty store only to say that nothing is in it."""
    if url.startswith("memory:"):
        raise InvalidSetting(
            "memory:// ends with the process that has it, and this one has just begun",
            field="store",
            hint="Name the store that your service uses, as --store sqlite:///tickwell.db",
        )
    path = store_file(url)
    if path is not None and not path.exists():
        raise StoreRefused(
            f"{path} does not exist; name another --store, or make it: tickwell jobs add,"
            " tickwell serve or tickwell store migrate"
        )


def missing_file(url: str) -> Path | None:
    """The file that opening a store makes; None: it exists, or the store is no file."""
    path = None if url.startswith("memory:") else store_file(url)
    return None if path is None or path.exists() else path


def say_created(path: Path) -> None:
    """Say that a store was made: in another folder than the service's, nothing runs its jobs."""
    new = shlex.quote(f"sqlite:///{path.resolve()}")
    typer.echo(
        f"Created a new store, {path.resolve()}; no process serves it yet. Start one:"
        f" tickwell serve --store {new}. If a service runs already, name its store instead:"
        " --store URL, or TICKWELL_STORE",
        err=True,
    )


def file_findings(url: str, *, fix: bool) -> list[Finding]:
    """Payloads and headers are in the file: whether others can read it."""
    path = store_file(url)
    if path is None or not path.stat().st_mode & _OTHERS:
        return []
    if fix:
        for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
            if path.with_name(name).exists():
                path.with_name(name).chmod(stat.S_IRUSR | stat.S_IWUSR)
        return [Finding("file", Level.GREEN, f"{path} can now be read by its owner only")]
    text = f"{path} can be read by other users of this host"
    return [Finding("file", Level.AMBER, text, "Repair it: tickwell doctor --fix")]
