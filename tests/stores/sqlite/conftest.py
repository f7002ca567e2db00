"""Stores in files, and other processes on them."""

import subprocess
import sys
from pathlib import Path

import pytest

from tickwell.stores.sqlite import SqliteStore

CHILD = Path(__file__).with_name("child.py")


class Child:
    """Another process on the same file."""

    def __init__(self, command, path, name):
        self.process = subprocess.Popen(
            [sys.executable, CHILD, command, path, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def hear(self):
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def say(self, word="go"):
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def kill(self):
        self.process.kill()
        return self.end()

    def end(self):
        """Close its input, and take what it still says."""
        left, _ = self.process.communicate()
        return left.split()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tickwell.db"


@pytest.fixture
async def store(path):
    store = SqliteStore(path)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def children(path):
    """Start processes; none outlives the test."""
    started = []

    def start(command, *names):
        new = [Child(command, path, name) for name in names]
        started.extend(new)
        return new

    yield start
    for child in started:
        if child.process.poll() is None:
            child.process.kill()
        child.process.communicate()
