"""PostgreSQL behaves as memory does, whatever the calls and their order."""

from uuid import UUID

import pytest

from tests.property.model.machine import BRIEF, StoreMachine, thorough
from tests.servers.schemas import empty_now, url
from tickwell.stores.postgres import PostgresStore

SCHEMA = "model"


class PostgresMachine(StoreMachine):
    def make_store(self):
        empty_now(SCHEMA)
        return PostgresStore.from_url(url(SCHEMA) + "&pool=1")

    def next(self, word):
        """Ids of jobs are UUIDs here."""
        self.counter += 1
        return str(UUID(int=self.counter))


TestPostgres = pytest.mark.timeout(600)(thorough(PostgresMachine, BRIEF))
