"""PostgreSQL behaves as memory does, whatever the calls and their order."""

from uuid import UUID

import pytest

from tests.property.model.machine import BRIEF, StoreMachine, check_reach, thorough
from tests.servers.schemas import empty_now, url
from tickwell.stores.postgres import PostgresStore

SCHEMA = "model"


class PostgresMachine(StoreMachine):
    def make_store(self):
        empty_now(SCHEMA)
        return PostgresStore.from_url(url(SCHEMA) + "&pool=1")

    def next(self, word):
        """Ids of jobs are UUIDs here; a run's begins with its instant, and is put in form below."""
        self.counter += 1
        return f"{self.counter:012}" if word == "run" else str(UUID(int=self.counter))

    def both(self, method, *args, order=None, **options):
        if method == "add_executions":
            for new in args[0]:
                new.id = as_uuid(new.id)
        return super().both(method, *args, order=order, **options)


def as_uuid(id):
    instant, _, number = id.partition("-")
    if len(instant) != 12:
        return id
    return f"{instant[:8]}-{instant[8:]}-7000-8000-{number}"


TestPostgres = pytest.mark.timeout(600)(thorough(PostgresMachine, BRIEF))


def test_the_machine_got_everywhere():
    check_reach(PostgresMachine, brief=True)
