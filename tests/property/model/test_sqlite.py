"""SQLite behaves as memory does, whatever the calls and their order."""

import shutil
import tempfile
from pathlib import Path

from tests.property.model.machine import StoreMachine, thorough
from tickwell.stores.sqlite import SqliteStore


class SqliteMachine(StoreMachine):
    def make_store(self):
        self.folder = Path(tempfile.mkdtemp())
        # What is durable after a power cut is another test's concern; waiting for disks is slow.
        return SqliteStore(self.folder / "tickwell.db", synchronous="normal")

    def drop_store(self):
        shutil.rmtree(self.folder)


TestSqlite = thorough(SqliteMachine, 100, brief=False)
