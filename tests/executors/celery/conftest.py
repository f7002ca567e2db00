"""One Celery worker for all tests of this folder that need no other."""

import os

import pytest

from tests.executors.celery.shop import worker
from tests.servers import redis


@pytest.fixture(scope="session")
def shop():
    server = redis.start()
    with worker(
        server.url, server.url, "--pool=prefork", "--concurrency=2", "-Q", "celery,billing"
    ) as found:
        yield found


@pytest.fixture
def pipes(tmp_path):
    """What a task that holds says and hears: the paths of two pipes."""
    paths = [str(tmp_path / "begun"), str(tmp_path / "go")]
    for path in paths:
        os.mkfifo(path)
    return paths
