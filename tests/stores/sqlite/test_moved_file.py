"""A file that is taken away under a running process is noticed, not written on in silence."""

import pytest

from tickwell.errors import StoreRefused
from tickwell.stores.sqlite import SqliteStore


async def test_a_moved_file_is_refused_until_it_is_put_back(tmp_path):
    path = tmp_path / "jobs.db"
    store = SqliteStore(path)
    await store.open()
    try:
        assert await store.ping() > 0
        path.rename(tmp_path / "elsewhere.db")
        with pytest.raises(StoreRefused, match="moved, deleted or replaced"):
            await store.ping()
        (tmp_path / "elsewhere.db").rename(path)
        assert await store.ping() > 0
    finally:
        await store.close()


async def test_another_file_in_its_place_is_refused(tmp_path):
    path = tmp_path / "jobs.db"
    store = SqliteStore(path)
    await store.open()
    try:
        path.rename(tmp_path / "old.db")
        path.touch()
        with pytest.raises(StoreRefused, match="put it back, or restart"):
            await store.ping()
    finally:
        await store.close()
