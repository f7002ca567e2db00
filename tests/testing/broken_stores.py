"""Stores with one thing wrong, which a verification has to find."""

from dataclasses import replace

from tickwell.stores.sqlite import SqliteStore


class Unfenced(SqliteStore):
    """Takes every report for one about the attempt that is running."""

    async def finish(self, reports, now):
        return await super().finish([await self._mistaken(each) for each in reports], now)

    async def _mistaken(self, report):
        found = await self.get_execution(report.claim.job.project, report.claim.id)
        if found is None:
            return report
        return replace(report, claim=replace(report.claim, attempt=found.attempt))


class OwnClock(SqliteStore):
    """Says that one clock decides, and lets each process have its own."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.promises = replace(self.promises, clock="the server's")


def unfenced(url):
    return Unfenced.from_url(url)


def own_clock(url):
    return OwnClock.from_url(url)
