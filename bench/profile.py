"""Where the CPU of a drain goes: samples of every thread's stack, weighed by the thread's own time.

A sampler sees threads that run in C without the interpreter's lock too, which cProfile does not.
"""

import sys
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path
from types import FrameType

#: Which part a file belongs to. The innermost frame that is in one of them decides, so that what
#: all parts use, such as `session.py`, counts for the part that used it.
PARTS = {
    "domain/outcome.py": "decide",
    "domain/planning.py": "plan",
    "executors/call.py": "handler",
    "executors/handlers.py": "handler",
    "engine/running/runner.py": "start",
    "engine/running/deadlines.py": "start",
    "engine/claiming/lane.py": "start",
    "engine/claiming/worker.py": "claim, the worker's part",
    "sqlite/claiming.py": "claim, the store's part",
    "engine/running/reporter.py": "finish, the reporter's part",
    "sqlite/finishing.py": "finish, the store's part",
    "sqlite/standing.py": "finish, the store's part",
    "sqlite/firing.py": "fire, the store's part",
    "sqlite/recording.py": "fire, the store's part",
    "sqlite/promoting.py": "promote, the store's part",
    "postgres/claiming.py": "claim, the store's part",
    "sql/claims.py": "claim, the store's part",
    "sql/server/claiming.py": "claim, the store's part",
    "sql/server/finishing.py": "finish, the store's part",
    "sql/server/standing.py": "finish, the store's part",
    "sql/reports.py": "finish, the store's part",
    "sql/server/firing.py": "fire, the store's part",
    "sql/server/recording.py": "fire, the store's part",
    "sql/server/promoting.py": "promote, the store's part",
    "postgres/liveness.py": "pulse",
    "postgres/database.py": "begin and commit",
    "sqlite/liveness.py": "pulse",
    "engine/liveness/pulse.py": "pulse",
    "sqlite/writer.py": "begin and commit",
    "sqlite/lane.py": "hops between threads",
}


class Sampler:
    """Looks at all threads every so often, from a thread of its own."""

    def __init__(self, interval: float = 0.001) -> None:
        self.interval = interval
        self.samples: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self.hot: Counter[str] = Counter()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._main, daemon=True)
        self._cpu: dict[int, float] = {}

    def start(self) -> None:
        # Without it the sampler would see the interpreter only every 5 ms.
        sys.setswitchinterval(0.0001)
        self._cpu = cpu_by_thread()
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join()
        now = cpu_by_thread()
        self._cpu = {id: used - self._cpu.get(id, 0.0) for id, used in now.items()}

    def _main(self) -> None:
        me = threading.get_ident()
        while not self._done.is_set():
            time.sleep(self.interval)
            native = {each.ident: each.native_id for each in threading.enumerate()}
            for ident, frame in sys._current_frames().items():  # noqa: SLF001 - there is no other way
                id = native.get(ident)
                if ident != me and id is not None and is_running(id):
                    self.samples[id][part_of(frame)] += 1
                    self.hot[f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}"] += 1

    def microseconds(self, executions: int) -> dict[str, float]:
        """CPU per execution, by part; a thread's time is divided as its samples are."""
        parts: Counter[str] = Counter()
        for id, seen in self.samples.items():
            each = self._cpu.get(id, 0.0) / executions * 1e6 / seen.total()
            for part, count in seen.items():
                parts[part] += each * count  # type: ignore[assignment]
        return dict(parts.most_common())


def part_of(frame: FrameType) -> str:
    """The part that the innermost known frame belongs to."""
    at: FrameType | None = frame
    while at is not None:
        _, _, file = at.f_code.co_filename.rpartition("/tickwell/")
        part = PARTS.get(file.removeprefix("stores/"))
        if part is not None:
            return part
        at = at.f_back
    return "event loop and the rest"


def is_running(id: int) -> bool:
    """Whether a thread has the CPU or is ready for it, by the kernel's account."""
    try:
        stat = Path(f"/proc/self/task/{id}/stat").read_text("ascii")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(") ")[2].startswith("R")


def cpu_by_thread() -> dict[int, float]:
    """Seconds of CPU that each thread of this process has used, by its kernel id."""
    used = {}
    for task in Path("/proc/self/task").iterdir():
        try:
            nanoseconds = (task / "schedstat").read_text("ascii").split()[0]
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended between the two looks
        used[int(task.name)] = int(nanoseconds) / 1e9
    return used


def show(sampler: Sampler, executions: int) -> str:
    """Both views as text."""
    lines = [f"CPU per execution, {executions:,} executions, sampled:"]
    parts = sampler.microseconds(executions)
    lines += [f"  {part:<29}{spent:6.1f} µs" for part, spent in parts.items()]
    lines.append(f"  {'together':<29}{sum(parts.values()):6.1f} µs")
    total = sampler.hot.total() or 1
    lines.append("Innermost functions, share of all samples:")
    lines += [f"  {name:<44}{n / total:6.1%}" for name, n in sampler.hot.most_common(15)]
    return "\n".join(lines)
