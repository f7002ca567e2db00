"""Where private servers keep their data."""

import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
#: Bytes that must be free there: in containers it may be small.
ENOUGH = 2 * 1024**3


def memory():
    """Where files are kept in memory, if there is room: none waits for the disk there."""
    is_roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ENOUGH
    return MEMORY if is_roomy else None


def quick_folder(prefix, *, on_disk=False):
    """In memory where there is room: these servers wait for the disk after each of many writes."""
    return Path(tempfile.mkdtemp(prefix=prefix, dir=None if on_disk else memory()))
