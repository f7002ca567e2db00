"""A process with nothing due: `python -m bench.ours.rest WHERE SECONDS`; its CPU and memory."""

import asyncio
import re
import sys
import time
from pathlib import Path

from bench.ours.process import make_engine, open_store, run

#: Seconds after the start that do not count.
SETTLING = 2.0


async def rest(path: str, seconds: float) -> dict[str, float]:
    """Start the engine and do nothing."""

    async def noop() -> None:
        return

    store = open_store(path)
    await store.open()
    engine = make_engine(store, {"noop": noop}, path)
    await engine.start()
    await asyncio.sleep(SETTLING)
    cpu, begin = time.process_time(), time.monotonic()
    await asyncio.sleep(seconds)
    cpu, seconds = time.process_time() - cpu, time.monotonic() - begin
    used = {"cpu": cpu, "seconds": seconds, "bytes": resident_bytes()}
    await engine.stop()
    await store.close()
    return used


def resident_bytes() -> int:
    """The most memory that this process ever held, from the kernel's own account."""
    status = Path("/proc/self/status").read_text("ascii")
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


if __name__ == "__main__":
    run(rest(sys.argv[1], float(sys.argv[2])))
