"""How late starts were, by the file that the workers wrote."""

from collections import defaultdict
from pathlib import Path


def judged(path: Path, fires: dict[str, list[float]], end: float) -> dict[str, float]:
    """Each fire time has a start of its own, in order; one that has none is late until the end."""
    starts = defaultdict[str, list[float]](list)
    for line in path.read_text().splitlines() if path.exists() else ():
        name, at = line.split()
        starts[name].append(float(at))
    late = list[float]()
    for name, due in fires.items():
        made = sorted(starts[name])
        late += [(made[n] if n < len(made) else end) - at for n, at in enumerate(due)]
    late.sort()
    return {
        "p50": late[len(late) // 2],
        "p99": late[int(len(late) * 0.99)],
        "due": len(late),
        "started": sum(map(len, starts.values())),
    }
