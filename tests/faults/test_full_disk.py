"""No space is left: the engine says so, breaks nothing, and goes on when there is some again."""

import os
import resource
import sqlite3
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes.jobs import RUN_ALL, every, job, multiples
from tests.processes.site import Site
from tickwell.clock import wall_millis
from tickwell.domain.gate import Overlap

SIZE = 32 * 1024 * 1024


@contextmanager
def small_disk(folder):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def can_mount():
    if os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory() as folder:
        try:
            with small_disk(folder):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False


class FullDisk:
    """Filled up by a file."""

    def __init__(self, folder):
        self.ballast = folder / "ballast"

    def fill(self, agent):
        with self.ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                return

    def free(self, agent):
        self.ballast.unlink()


class Limit:
    """What every user has: no file of the process may grow beyond the log that it has now."""

    def __init__(self, folder):
        self.log = folder / "jobs.db-wal"
        self.most = resource.RLIM_INFINITY

    def fill(self, agent):
        self.set(agent, self.log.stat().st_size)

    def free(self, agent):
        self.set(agent, self.most)

    def set(self, agent, size):
        resource.prlimit(agent.pid, resource.RLIMIT_FSIZE, (size, self.most))


@pytest.fixture(params=[FullDisk, Limit] if can_mount() else [Limit])
def shortage(request, tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    if request.param is Limit:
        yield Limit(folder)
        return
    with small_disk(folder):
        yield FullDisk(folder)


def add_ticking(site):
    """For long enough that there is something to write when the space runs out."""
    now = wall_millis()
    first = now // 200 * 200 + 600
    last = first + 8000
    names = [f"tick-{number}" for number in range(10)]
    site.add(
        *(
            job(name, "count", every(200, first, last), now, misfire=RUN_ALL, overlap=Overlap.ALLOW)
            for name in names
        ),
        fires={name: multiples(200, first, last) for name in names},
    )


def is_sound(site):
    connection = sqlite3.connect(Path(site.folder) / "jobs.db")
    [[answer]] = connection.execute("PRAGMA integrity_check").fetchall()
    connection.close()
    return answer == "ok"


def test_work_stops_and_goes_on(tmp_path, shortage, processes):
    site = Site(tmp_path / "disk")
    site.calls = tmp_path / "calls"  # the record of calls has space
    agent = processes.agent(site.orders(report_every=0.1))
    add_ticking(site)
    site.wait_for_calls(20)
    shortage.fill(agent)
    agent.wait_for("Report", ok=False)
    assert agent.heard("StepFailed")
    position = len(agent.lines)
    assert is_sound(site)
    shortage.free(agent)
    agent.wait_for("Report", after=position, ok=True)
    site.wait_until_quiet()
    site.judge()
    assert is_sound(site)
