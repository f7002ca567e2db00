"""What processes hold: memory, open files, tasks; and whether it grows."""

import os
import time
from pathlib import Path

from tests.prove.crew import Crew

PAGE = os.sysconf("SC_PAGE_SIZE")
#: The share of the run in which caches fill and pools grow to their size.
WARM_UP = 0.5
#: Growth that is none: a page cache of 64 MB fills slowly.
MEGABYTES = 100.0


class Resources:
    """Samples of every process of a crew."""

    def __init__(self, crew: Crew) -> None:
        self.crew = crew
        self.samples: dict[int, list[tuple[float, float, int, int]]] = {}

    def look(self) -> None:
        for member in self.crew.members:
            folder = Path(f"/proc/{member.pid}")
            reports = member.heard("Report")
            if not folder.exists() or not reports:
                continue
            resident = int((folder / "statm").read_text().split()[1]) * PAGE / 1e6
            files = len(list((folder / "fd").iterdir()))
            tasks = int(reports[-1]["tasks"])
            sample = time.monotonic(), resident, files, tasks
            self.samples.setdefault(member.pid, []).append(sample)

    def slopes(self) -> dict[str, float]:
        """The worst of all processes after the warm-up."""
        worst = {"MB/hour": 0.0, "MB grown": 0.0, "files grown": 0.0, "most tasks": 0.0}
        for samples in self.samples.values():
            late = samples[int(len(samples) * WARM_UP) :]
            if len(late) < 2:
                continue
            hours = (late[-1][0] - late[0][0]) / 3600
            grown = late[-1][1] - late[0][1]
            worst["MB/hour"] = max(worst["MB/hour"], grown / hours)
            worst["MB grown"] = max(worst["MB grown"], grown)
            worst["files grown"] = max(worst["files grown"], late[-1][2] - late[0][2])
            worst["most tasks"] = max(worst["most tasks"], *(each[3] for each in late))
        return worst

    def violations(self) -> list[str]:
        worst = self.slopes()
        found = []
        if worst["MB grown"] > MEGABYTES:
            found.append(f"memory grew by {worst['MB grown']:.0f} MB after the warm-up")
        if worst["files grown"] > 10:
            found.append(f"{worst['files grown']:.0f} more files are open")
        if worst["most tasks"] > 1000:
            found.append(f"{worst['most tasks']:.0f} tasks at once")
        return found
