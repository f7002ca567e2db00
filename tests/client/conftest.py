"""A service with access, and clients that show its first key."""

import pytest

from tests.client.served import Served
from tickwell.client import AsyncClient, Client


@pytest.fixture
def served(tmp_path, monkeypatch):
    monkeypatch.delenv("TICKWELL_SERVER", raising=False)
    monkeypatch.delenv("TICKWELL_KEY", raising=False)
    with Served(f"sqlite:///{tmp_path}/jobs.db") as served:
        yield served


@pytest.fixture
def client(served):
    with Client(served.url, key=served.key) as client:
        yield client


@pytest.fixture
async def async_client(served):
    async with AsyncClient(served.url, key=served.key) as client:
        yield client
