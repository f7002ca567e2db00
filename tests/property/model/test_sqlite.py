"""SQLite behaves as memory does, whatever the calls and their order."""

import shutil
import tempfile
from pathlib import Path
from uuid import UUID

from tests.property.model.machine import StoreMachine, thorough
from tickwell.stores.sqlite import SqliteStore


class SqliteMachine(StoreMachine):
    def make_store(self):
        self.folder = Path(tempfile.mkdtemp())
        # What is durable after a power cut is another test's concern; waiting for disks is slow.
        return SqliteStore(self.folder / "tickwell.db", synchronous="normal")

    def next(self, word):
        """Ids of jobs are UUIDs, as in every SQL store."""
        self.counter += 1
        return str(UUID(int=self.counter))

    def drop_store(self):
        shutil.rmtree(self.folder)


TestSqlite = thorough(SqliteMachine, 100, brief=False)
