"""Processes of one machine, told apart, so that one that is gone is known to be gone at once."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

_PROC = Path("/proc")
#: Zombie, dead.
_ENDED = frozenset({"Z", "X", "x"})


def boot_id() -> str:
    """What is new with each boot of this machine; empty where nothing tells."""
    try:
        return _boot(_PROC)
    except (OSError, ValueError):
        return ""


def _boot(proc: Path) -> str:
    return (proc / "sys/kernel/random/boot_id").read_text("ascii").strip()


def own_process() -> str:
    """What no other process has had on this machine since it started; empty where nothing tells.

    The boot, the namespace that ids count in, its id, and when it began: ids are used again.
    """
    return _identity(os.getpid(), _PROC)


@lru_cache(maxsize=1)  # a process that was forked has another id
def _identity(pid: int, proc: Path) -> str:
    try:
        # In a container that was given its host's /proc ids mean other processes.
        if (proc / "self").readlink().name != str(pid):
            return ""
        boot = _boot(proc)
        namespace = (proc / "self/ns/pid").readlink()
        return f"{boot} {namespace} {pid} {_began(pid)}"
    except (OSError, ValueError, IndexError):  # not Linux, or nothing that we may read
        return ""


def is_gone(process: str) -> bool:
    """Whether it ran on this machine and runs no more; never where there is a doubt."""
    mine = own_process()
    if not process or not mine or process == mine or process.split()[:2] != mine.split()[:2]:
        return False
    pid, began = (int(word) for word in process.split()[2:])
    try:
        os.kill(pid, 0)  # asks whether it is there; /proc may hide those of other users
    except ProcessLookupError:
        return True
    except OSError:
        pass
    try:
        state, threads, began_at = _stat(pid)
    except (OSError, ValueError, IndexError):
        return False
    # A zombie runs nothing more: its parent has only not asked yet how it ended. One with threads
    # left is a process whose first thread has ended before the others.
    return began_at != began or (state in _ENDED and threads <= 1)


def _began(pid: int) -> int:
    return _stat(pid)[2]


def _stat(pid: int) -> tuple[str, int, int]:
    """The state, the number of threads, and the clock ticks from the boot to its start.

    Its name, which may hold anything, is in brackets.
    """
    stat = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    fields = stat.rpartition(") ")[2].split()
    return fields[0], int(fields[17]), int(fields[19])
