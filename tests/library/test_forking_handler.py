"""A handler that forks and forgets to end the copy harms neither its worker nor others."""

import pytest

PROGRAM = """
    import asyncio, os, sys
    from tickwell import Run, Scheduler, Settings, State

    scheduler = Scheduler(f"sqlite:///{sys.argv[1]}/jobs.db")
    how = sys.argv[2]

    def both(comes_back):
        copy = os.fork()
        if not copy:
            return comes_back("the copy")
        os.waitpid(copy, 0)
        return "the original"

    def fail(text):
        raise LookupError(text)

    @scheduler.job()
    async def forks() -> str:
        never = asyncio.get_running_loop().create_future()
        result = both(fail if how == "raises" else str if how == "returns" else lambda _: never)
        return await result if result is never else result

    @scheduler.job()
    def forks_in_thread() -> str:
        return both(str)

    @scheduler.job()
    async def neighbour() -> str:
        return "well"

    async def main():
        changed = asyncio.Event()
        scheduler.subscribe(lambda _: changed.set())
        async with scheduler, asyncio.timeout(60):
            for function in (forks_in_thread if how == "thread" else forks, neighbour):
                one = await function.trigger()
                while one.state is not State.SUCCEEDED:
                    await changed.wait()
                    changed.clear()
                    one = await scheduler.get_execution(one.id)
                print(one.result, one.attempt)

    asyncio.run(main())
"""


@pytest.mark.parametrize("how", ["returns", "raises", "awaits", "thread"])
def test_a_copy_ends_where_it_comes_back(how, tmp_path, program):
    assert program(PROGRAM, tmp_path, how) == ("the original 1\nwell 1\n", "", 0)


def test_what_is_due_when_a_handler_forks_is_done_once(tmp_path, program):
    """A copy that awaited ran what stood in its event loop's queue before it ended."""
    due = "never = asyncio.get_running_loop().create_future()\n"
    also = due + '        asyncio.get_running_loop().call_soon(os.write, 1, b"done ")\n'
    assert due in PROGRAM
    printed = program(PROGRAM.replace(due, also), tmp_path, "awaits")
    assert printed == ("done the original 1\nwell 1\n", "", 0)
