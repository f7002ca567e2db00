"""An execution that fails, is retried, dies, and is revived after the cause is fixed.

It prints:
    attempt 1 failed
    attempt 2 failed
    attempt 3 failed
    the dead letter: ConnectionError: the printer is off
    attempt 4 printed invoice 4711
    the execution succeeded, after 4 attempts under one id
"""

import asyncio

from tickwell import Backoff, Retry, Run, Scheduler, State
from tickwell.events import AttemptsFinished, Event

scheduler = Scheduler("memory://")
printer_is_on = False
ended: asyncio.Queue[State] = asyncio.Queue()


@scheduler.job(retry=Retry(max_attempts=3, backoff=Backoff.FIXED, delay="200ms", jitter=0))
async def print_invoice(run: Run, number: int) -> None:
    """The error is recorded; the next attempt has the same id and a higher number."""
    if not printer_is_on:
        print(f"attempt {run.attempt} failed")
        raise ConnectionError("the printer is off")
    print(f"attempt {run.attempt} printed invoice {number}")


def listen(event: Event) -> None:
    """Tell the main program when an execution has succeeded or died."""
    if isinstance(event, AttemptsFinished):
        for report in event.reports:
            if report.state is not State.WAITING:  # waiting: another attempt follows
                ended.put_nowait(report.state)


async def main() -> None:
    """Let it die, look at the dead letter, fix the cause, revive it."""
    global printer_is_on  # noqa: PLW0603
    scheduler.subscribe(listen)
    async with scheduler:
        await print_invoice.trigger(number=4711)
        await ended.get()
        [letter] = await scheduler.executions(state="dead")
        print("the dead letter:", (letter.error or "").splitlines()[-1])
        printer_is_on = True
        await scheduler.revive(letter.id)
        state = await ended.get()
        again = await scheduler.get_execution(letter.id)
        print(f"the execution {state}, after {len(again.attempts)} attempts under one id")


if __name__ == "__main__":
    asyncio.run(main())
