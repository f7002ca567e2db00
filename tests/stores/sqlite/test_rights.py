"""Who can read the file: payloads and headers are in it."""

import os
import stat

import pytest

from tickwell.stores.sqlite import SqliteStore


@pytest.fixture
def common_mask():
    """As most hosts have it: what is made can be read by all."""
    before = os.umask(0o022)
    yield
    os.umask(before)


async def rights(path):
    """Open a store there; the rights of each of its files."""
    store = SqliteStore(path)
    await store.open()
    try:
        return {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    finally:
        await store.close()


@pytest.mark.usefixtures("common_mask")
async def test_a_new_file_is_its_owner_s_alone(tmp_path):
    found = await rights(tmp_path / "jobs.db")
    assert found == dict.fromkeys(["jobs.db", "jobs.db-wal", "jobs.db-shm"], 0o600)


@pytest.mark.usefixtures("common_mask")
async def test_one_that_somebody_opened_to_a_group_stays_so(tmp_path):
    path = tmp_path / "jobs.db"
    path.touch()
    path.chmod(0o660)
    assert set((await rights(path)).values()) == {0o660}
