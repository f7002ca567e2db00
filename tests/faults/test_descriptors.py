"""Open sockets follow the work: one for each webhook under way, none when it has ended."""

import socket
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.processes.child import until
from tests.processes.jobs import job, once
from tests.prove.webhooks import SENDING
from tickwell.clock import wall_millis
from tickwell.domain.http import Http
from tickwell.domain.policy import Retry

CAPACITY = 8


@pytest.fixture
def silent():
    """The port of a receiver that takes connections and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(10 * CAPACITY)
        yield listening.getsockname()[1]


def sockets_to(port, pid):
    """How many open files of a process are connections to a port."""
    found = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    wanted = {f"socket:[{each[9]}]" for each in found if int(each[2].partition(":")[2], 16) == port}
    held = 0
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            held += str(file.readlink()) in wanted
    return held


def test_a_receiver_that_hangs_costs_a_socket_for_each_slot_and_no_more(site, processes, silent):
    agent = processes.agent(site.orders(settings=SENDING | {"capacity": CAPACITY}, webhooks=True))
    now = wall_millis()
    target = Http(f"http://127.0.0.1:{silent}/", timeout="2s")
    made = [
        replace(
            job(f"hangs-{n}", "count", once(now), now), target=target, retry=Retry(max_attempts=1)
        )
        for n in range(3 * CAPACITY)
    ]
    seen = set()

    def is_full():
        seen.add(sockets_to(silent, agent.pid))
        return CAPACITY in seen

    def is_over():
        return is_full() and {each.state for each in site.executions()} == {"dead"}

    site.add(*made, fires={each.name: [now] for each in made})
    until(is_full)
    until(is_over)
    assert max(seen) == CAPACITY
    until(lambda: sockets_to(silent, agent.pid) == 0)
