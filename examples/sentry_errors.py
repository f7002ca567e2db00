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

from tickwell import Retry, Scheduler
from tickwell.domain.event import AttemptsFinished
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.outcome import Report

# Tickwell also logs failed attempts; without this, each would be a second event.
ignore_logger("tickwell")
FAILED = {OutcomeKind.FAILED, OutcomeKind.TIMED_OUT}
scheduler = Scheduler("memory://")


@scheduler.job(retry=Retry(max_attempts=1))
async def charge() -> None:
    """A handler that fails."""
    raise ConnectionError("the bank does not answer")


def send_to_sentry(report: Report) -> None:
    """One event per attempt; events of one job with the same last line are one issue."""
    claim, error = report.claim, (report.error or "").strip()
    last_line = error.splitlines()[-1] if error else report.outcome.value
    sentry_sdk.capture_event(
        {
            # A failure that is retried is a warning; only a dead execution is an error.
            "level": "error" if report.state is State.DEAD else "warning",
            "logger": "tickwell",
            "message": f"{claim.job.name}: {last_line}",
            "fingerprint": ["tickwell", claim.job.project, claim.job.name, last_line],
            "tags": {
                "job": claim.job.name,
                "project": claim.job.project,
                "queue": claim.job.queue,
                "outcome": report.outcome.value,
            },
            "contexts": {
                "tickwell": {
                    "execution": claim.id,
                    "attempt": claim.attempt,
                    "fire_time": claim.fire_time,
                    "error": error,
                }
            },
        }
    )
    print(f"reported: {claim.job.name} {report.outcome.value}, attempt {claim.attempt}")


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
