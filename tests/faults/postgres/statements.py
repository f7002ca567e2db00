"""The scenario of the kill sweep, its connection lost after any one of its statements.

What a call does is done whole or not at all, and done again it has no second effect: whatever the
statement was, the same attempts are called in the end, each once.
"""

import asyncpg
import pytest

from tests.faults.checker import check
from tests.faults.postgres.sweeping import hasty
from tests.processes import journal
from tests.processes.faulty_store import Faults
from tests.processes.scenario import Scenario, history_of
from tests.servers.schemas import empty
from tickwell.stores.postgres import PostgresStore

SCHEMA = "statements"
#: How the driver sends statements.
WAYS = ("execute", "fetch", "fetchrow", "fetchval")


class Statements(Faults):
    """Counts the statements of some calls, and ends the connection after the nth."""

    def __init__(self, nth=0, methods=None):
        self.nth = nth
        self.methods = methods
        self.count = 0
        self.inside = False

    async def before(self, method):
        self.inside = self.methods is None or method in self.methods

    async def after(self, method, answer):
        self.inside = False
        return answer

    def sent(self, connection, query):
        if not self.inside or "pg_notify" in query:
            return
        self.count += 1
        if self.count == self.nth:
            self.inside = False
            connection.terminate()
            raise asyncpg.ConnectionDoesNotExistError(f"cut after {query}")

    def listen(self, patches):
        for way in WAYS:
            patches.setattr(
                asyncpg.Connection, way, self._through(getattr(asyncpg.Connection, way))
            )

    def _through(self, way):
        async def run(connection, query, *args, **options):
            answer = await way(connection, query, *args, **options)
            self.sent(connection, query)
            return answer

        return run


async def work(folder, faults):
    """What was called, and what is wrong."""
    url, calls = hasty().url, folder / f"calls-{faults.nth}"
    await empty(SCHEMA, url)
    store = PostgresStore.from_url(f"{url}?pool=1&schema={SCHEMA}")
    await store.open()
    try:
        with pytest.MonkeyPatch.context() as patches:
            faults.listen(patches)
            await Scenario(store, calls, "victim", faults).run()
        violations = check(await history_of(store, calls))
    finally:
        await store.close()
    called = sorted((line.execution, line.attempt) for line in journal.read(calls))
    return called, violations


async def cut_everywhere(folder, methods=None):
    """Every cut; how many there were."""
    rehearsal = Statements(methods=methods)
    clean, violations = await work(folder, rehearsal)
    assert violations == []
    for nth in range(1, rehearsal.count + 1):
        called, violations = await work(folder, Statements(nth, methods))
        assert violations == [], f"statement {nth}"
        assert called == clean, f"statement {nth}"
    return rehearsal.count
