"""Fills a new store: `python -m bench.ours.enqueue WHERE COUNT`."""

import sys

from bench.ours.process import enqueue, open_store, run


async def fill(path: str, count: int) -> dict[str, int]:
    """Make the store, add the runs, close it."""
    store = open_store(path)
    await store.open()
    await enqueue(store, count)
    await store.close()
    return {"enqueued": count}


if __name__ == "__main__":
    run(fill(sys.argv[1], int(sys.argv[2])))
