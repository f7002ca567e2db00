"""PostgreSQL behaves as memory does, whatever the calls and their order."""

from uuid import UUID

from tests.property.model.machine import StoreMachine, check_reach, thorough
from tests.servers.schemas import empty_now, url
from tickwell.stores.postgres import PostgresStore

SCHEMA = "model"


class PostgresMachine(StoreMachine):
    def make_store(self):
        empty_now(SCHEMA)
        return PostgresStore.from_url(url(SCHEMA) + "&pool=1")

    def next(self, word):
        """Ids of jobs and executions are UUIDs here, in the order in which they are asked for."""
        self.counter += 1
        return str(UUID(int=self.counter))


TestPostgres = thorough(PostgresMachine)


def test_the_machine_got_everywhere():
    check_reach(PostgresMachine)
