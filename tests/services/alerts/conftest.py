import pytest

from tests.services.alerts.watch import Watch


@pytest.fixture
async def watch(store):
    made = Watch(store)
    await made.beat()
    return made
