"""A process of its own on the same file: `child.py COMMAND PATH [NAME]`, driven by its input."""

import asyncio
import sys

from tickwell.ports.records import Record
from tickwell.stores.sqlite import SqliteStore


def say(words):
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


async def heard():
    """The next line of the input; empty at its end."""
    return (await asyncio.to_thread(sys.stdin.readline)).strip()


async def open_store(path, name):
    """Open at the word, as all the others do."""
    say("ready")
    await heard()
    store = SqliteStore(path)
    await store.open()
    await store.put_record(Record(kind="opened", project="default", key=name, document=None), 0)
    await store.close()
    say("opened")


async def write(path, name):
    """Write until the input ends; say each write once it is acknowledged."""
    store = SqliteStore(path)
    await store.open()
    say("ready")
    await heard()
    over = asyncio.create_task(heard())
    count = 0
    while not over.done():
        count += 1
        record = Record(kind="count", project="default", key=name, document=count)
        await store.put_record(record, 0)
        say(count)
    await store.close()


async def stop_inside(path, name):
    """Write, and stay in the transaction until somebody ends the process."""
    store = SqliteStore(path)
    await store.open()

    def work(session):
        record = "half", "default", name, "1", 1, None
        session.execute("replace_record", *record)
        say("inside")
        sys.stdin.readline()

    await store.writer.call(work)


if __name__ == "__main__":
    commands = {"open": open_store, "write": write, "inside": stop_inside}
    asyncio.run(commands[sys.argv[1]](sys.argv[2], sys.argv[3]))
