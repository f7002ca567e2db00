"""Where the CPU of a drain goes: samples of every thread's stack, weighed by the thread's own time.

A sampler sees threads that run in C without the interpreter's lock too, which cProfile does not.
"""

import sys
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path
from types import FrameType

#: A sample belongs to the first of these that one of its frames matches, innermost frame first.
#: By the end of the file's path, and the function, if one is named.
PARTS: tuple[tuple[str, str, str], ...] = (
    ("tickwell/domain/outcome.py", "", "decide"),
    ("tickwell/domain/planning.py", "", "plan"),
    ("tickwell/executors/", "", "handler"),
    ("bench/ours/", "noop", "handler"),
    ("tickwell/engine/runner.py", "", "start"),
    ("tickwell/engine/deadlines.py", "", "start"),
    ("tickwell/engine/worker.py", "", "claim: worker"),
    ("tickwell/engine/reporter.py", "", "finish: reporter"),
    ("tickwell/stores/", "COMMIT", "commit"),
    ("tickwell/stores/", "claim", "claim: store"),
    ("tickwell/stores/", "finish", "finish: store"),
    ("tickwell/stores/", "fire", "fire: store"),
    ("tickwell/stores/", "next_wakeup", "next_wakeup: store"),
    ("tickwell/stores/", "", "store, the rest"),
    ("tickwell/", "", "engine, the rest"),
)
#: Innermost frames of a thread that waits.
WAITING = {"wait", "get", "_waiting", "select", "run_forever", "run_until_complete", "sleep"}


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
                if ident != me and id is not None and frame.f_code.co_name not in WAITING:
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
        file, function = at.f_code.co_filename, at.f_code.co_name
        for path, word, part in PARTS:
            if path in file and word in function:
                return part
        at = at.f_back
    return "event loop"


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
    lines += [f"  {part:<22}{spent:6.1f} µs" for part, spent in parts.items()]
    lines.append(f"  {'together':<22}{sum(parts.values()):6.1f} µs")
    total = sampler.hot.total() or 1
    lines.append("Innermost functions, share of all samples:")
    lines += [f"  {name:<44}{n / total:6.1%}" for name, n in sampler.hot.most_common(15)]
    return "\n".join(lines)
