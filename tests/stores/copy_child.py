"""`python -m tests.stores.copy_child FROM TO`: copies, and waits at each page that is copied.

It says so with a line, and goes on with a line that it is given.
"""

import asyncio
import sys

from tickwell.services import store_copy
from tickwell.wiring import make_store

#: Small pages, so that a few executions take several.
store_copy.PAGE = 2


async def main(source, target):
    stores = make_store(source), make_store(target)
    for store in stores:
        await store.open()

    def told(_count):
        sys.stdout.write(f"{copying.progress.stage}\n")
        sys.stdout.flush()
        sys.stdin.readline()

    copying = store_copy.StoreCopy(*stores)
    await copying.prepare()
    await copying.copy(told)
    await copying.verify(told)
    for store in stores:
        await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
