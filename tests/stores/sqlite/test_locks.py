"""POSIX drops all locks of a process on a file when the process closes any descriptor of it."""

from pathlib import Path

from tickwell.stores.sqlite import SqliteStore


def locks(path):
    """Locks on the file itself, held by anybody."""
    inode = f":{path.stat().st_ino} "
    return sum(inode in line for line in Path("/proc/locks").read_text().splitlines())


async def test_opening_a_second_handle_drops_no_lock_of_the_first(tmp_path):
    path = tmp_path / "tickwell.db"
    first, second = SqliteStore(path), SqliteStore(path)
    await first.open()
    held = locks(path)
    assert held
    await second.open()
    assert locks(path) >= held
    await second.close()
    assert locks(path) >= held
    await first.close()
    assert locks(path) == 0
