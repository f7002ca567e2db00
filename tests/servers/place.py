"""Where private servers keep their data."""

import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
#: Bytes that must be free there: in containers it may be small.
ENOUGH = 2 * 1024**3


def quick_folder(prefix, *, on_disk=False):
    """In memory where there is room: these servers wait for the disk after each of many writes."""
    is_roomy = not on_disk and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ENOUGH
    return Path(tempfile.mkdtemp(prefix=prefix, dir=MEMORY if is_roomy else None))
