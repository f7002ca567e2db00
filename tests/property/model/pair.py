"""Two stores that must not differ: the one that specifies, and the one under test."""

from collections import Counter
from dataclasses import asdict, is_dataclass, replace

from tickwell.domain.job import JobState
from tickwell.errors import TickwellError
from tickwell.ports.records import ExecutionFilter, JobFilter

EVERY_JOB = JobFilter(states=frozenset(JobState))
#: More than a run can make.
ALL = 10_000


class Pair:
    """`reference` is memory; `store` is held to it."""

    def __init__(self, reference, store, calls):
        self.reference = reference
        self.store = store
        self.calls = calls
        self._seen = {}

    async def open(self):
        for one in (self.reference, self.store):
            await one.open()
        self.calls["open"] += 1

    async def close(self, now):
        """Look at every attempt once more, then let go."""
        self._seen.clear()
        try:
            await self.compare(now)
            assert isinstance(await self.store.ping(), int)
            self.calls["ping"] += 1
        finally:
            await self.store.close()
            self.calls["close"] += 1

    async def call(self, method, *args, order=None, **options):
        """The answer that both give, or the error that both raise."""
        self.calls[method] += 1
        expected = await _outcome(getattr(self.reference, method), args, options)
        answer = await _outcome(getattr(self.store, method), args, options)
        if answer != expected:  # in another order, or wrong: looked at field by field
            assert _plain(answer, order) == _plain(expected, order), method
        return expected

    async def claim(self, request):
        """Claim from both; what they hand over was claimable before."""
        self.calls["claimable"] += 1
        stores, look = (self.reference, self.store), replace(request, limit=1000)
        seen = [{one.id for one in await each.claimable(look)} for each in stores]
        claims = await self.call("claim", request)
        claimed = {claim.id for claim in claims}
        assert all(claimed <= ids for ids in seen)
        return claims

    async def pages(self, method, where, limit):
        """The same items on the same pages; what a cursor looks like is each store's own affair."""
        pages = []
        for one in (self.reference, self.store):
            cursor, read = None, []
            while True:
                self.calls[method] += 1
                page = await getattr(one, method)(where, cursor, limit)
                read.append([_plain(item) for item in page.items])
                cursor = page.cursor
                if cursor is None:
                    break
            pages.append(read)
        assert pages[1] == pages[0], method

    async def compare(self, now):
        """All that can be seen of both is equal; how many executions are in which state."""
        entries = (await self._same("list_jobs", EVERY_JOB, None, ALL)).items
        listed = await self._same("list_executions", ExecutionFilter(), None, ALL)
        for execution in listed.items:
            # Attempts change only with what a list shows.
            if self._seen.get(execution.id) != execution:
                await self._same("get_execution", execution.project, execution.id)
                self._seen[execution.id] = execution
        for entry in entries:
            await self._same("list_skips", entry.job.id, 0, 10**15)
        await self._same("list_workers")
        for kind in ("job_version", "note"):
            await self._same("list_records", kind, "default", "", now, ALL)
        for queues in (None, ["default"], ["slow"]):
            await self._same("next_wakeup", now, queues)
        await self._same("stats")
        return Counter(execution.state for execution in listed.items)

    async def _same(self, method, *args):
        expected = await getattr(self.reference, method)(*args)
        found = await getattr(self.store, method)(*args)
        there, here = found, expected
        if method in {"list_jobs", "list_executions"}:
            there, here = found.items, expected.items
        if there != here:
            assert _plain(there) == _plain(here), method
        return expected


async def _outcome(method, args, options):
    try:
        return await method(*args, **options)
    except TickwellError as error:
        return type(error), str(error)


def _plain(answer, order=None):
    """As data that compares field by field, and shows where it differs."""
    if isinstance(answer, list):
        ordered = answer if order is None else sorted(answer, key=order)
        return [_plain(one) for one in ordered]
    if order is not None and hasattr(answer, "refused"):
        return [_plain(answer.refused, order), answer.failures]
    return asdict(answer) if is_dataclass(answer) and not isinstance(answer, type) else answer
