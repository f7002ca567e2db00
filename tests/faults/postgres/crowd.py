"""Everybody else who wants a connection to a server that has few."""

from functools import cache

import psycopg

from tests.processes.child import until
from tests.servers.postgres import start

#: Places for all: of two agents each takes up to twenty, and the test itself a few.
PLACES = 60
OURS = "application_name = 'tickwell'"
TERMINATE = f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE {OURS}"
COUNT = f"SELECT count(*) FROM pg_stat_activity WHERE {OURS}"


@cache
def small_server():
    """One that runs out of connections soon."""
    return start(f"max_connections={PLACES}", "superuser_reserved_connections=0")


class Crowd:
    """Takes every place that is free, and drives others out of theirs."""

    def __init__(self, url):
        self.url = url
        self.owner = psycopg.connect(url, autocommit=True)
        self.guests = []

    def fill(self):
        """Take what is free."""
        try:
            while True:
                self.guests.append(psycopg.connect(self.url))
        except psycopg.OperationalError as error:
            if "too many clients" not in str(error):
                raise

    def crowd_out(self):
        """Until none of ours has a place."""
        until(self._crowded_out)

    def _crowded_out(self):
        self.ask(TERMINATE)
        self.fill()
        return self.ask(COUNT) == 0

    def ask(self, question):
        [answer] = self.owner.execute(question).fetchall()
        return answer[0]

    def leave(self, places=PLACES):
        """Let so many places go."""
        for guest in self.guests[:places]:
            guest.close()
        del self.guests[:places]

    def close(self):
        self.leave()
        self.owner.close()
