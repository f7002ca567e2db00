"""Errors in Sentry: every attempt that fails, with its job, execution and attempt as tags.

Set SENTRY_DSN to the DSN of your project; without it nothing is sent. The same works in a process
that `tickwell serve --app sentry_errors:scheduler` starts. It needs `pip install sentry-sdk`.

It prints:
    reported: charge failed, attempt 1
"""

import asyncio
import os

import sentry_sdk
from sentry_sdk.integrations.logging import ignore_logger

from tickwell import OutcomeKind, Scheduler, State
from tickwell.events import AttemptReport, AttemptsFinished

# Tickwell also logs failed attempts; without this, each would be a second event.
ignore_logger("tickwell")
FAILED = {OutcomeKind.FAILED, OutcomeKind.TIMED_OUT}
scheduler = Scheduler("memory://")


@scheduler.job(retry=1)
async def charge() -> None:
    """A handler that fails."""
    raise ConnectionError("the bank does not answer")


def send_to_sentry(report: AttemptReport) -> None:
    """One event per attempt; events of one job with the same last line are one issue."""
    error = (report.error or "").strip()
    last_line = error.splitlines()[-1] if error else report.outcome.value
    sentry_sdk.capture_event(
        {
            # A failure that is retried is a warning; only a dead execution is an error.
            "level": "error" if report.state is State.DEAD else "warning",
            "logger": "tickwell",
            "message": f"{report.job}: {last_line}",
            "fingerprint": ["tickwell", report.project, report.job, last_line],
            "tags": {
                "job": report.job,
                "project": report.project,
                "queue": report.queue,
                "outcome": report.outcome.value,
            },
            "contexts": {
                "tickwell": {
                    "execution": report.execution,
                    "attempt": report.attempt,
                    "fire_time": report.fire_time.isoformat(),
                    "error": error,
                }
            },
        }
    )
    print(f"reported: {report.job} {report.outcome.value}, attempt {report.attempt}")


@scheduler.on(AttemptsFinished)
def report_failures(event: AttemptsFinished) -> None:
    """For webhooks and handlers; errors contain no secrets."""
    for report in event.reports:
        if report.outcome in FAILED:
            send_to_sentry(report)


async def main() -> None:
    """Fail once."""
    sentry_sdk.init(dsn=os.environ.get("SENTRY_DSN"))
    async with scheduler:
        await scheduler.wait(await charge.trigger())
    sentry_sdk.flush()


if __name__ == "__main__":
    asyncio.run(main())
