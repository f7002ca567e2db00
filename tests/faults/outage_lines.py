"""A server that is away is a few lines in the log, however many steps fail meanwhile."""

from collections import Counter
from itertools import dropwhile

from tests.observe.serving import serving

#: Of each process.
MOST_LINES = 3
#: Steps of each process that fail before the server is back.
FAILED = 6


def check_outage(folder, url, kill, start, *, workers=0, listens=False):
    """Kill the server of a service and start it again; what each of its processes logs."""
    options = ("--store", url, "--port", "0", "--no-auth", "--log-level", "debug")
    with serving(folder, *options, *(["--workers", str(workers)] if workers else [])) as service:
        service.wait_for("service_started")
        processes = {service.wait_for("engine_started")["pid"] for _ in range(workers)}
        processes.add(service.process.pid)
        if (
            listens
        ):  # what could never be listened to is told at once, which is no matter of outages
            wait_for_each(service, "notifications_started", processes, 1)
        begin = len(service.lines)
        kill()
        wait_for_each(service, "step_failed", processes, FAILED)
        start()
        wait_for_each(service, "store_recovered", processes, 1)
    for pid in processes:
        own = [line for line in service.lines[begin:] if line["pid"] == pid and is_told(line)]
        # What a child says of its start may come later than that.
        told = [*dropwhile(lambda line: line["event"] != "store_unavailable", own)]
        assert 2 <= len(told) <= MOST_LINES, [(line["event"], line["message"]) for line in told]
        assert told[-1]["event"] == "store_recovered", told
    assert "secret" not in str(service.lines)  # the password of the URL


def is_told(line):
    # uvicorn says at the level of this test that it has started.
    return line["level"] != "debug" and line.get("logger") != "uvicorn.error"


def wait_for_each(service, event, processes, count):
    """Read until each process has logged so many lines of an event."""
    seen = Counter(line["pid"] for line in service.lines if line["event"] == event)
    while any(seen[pid] < count for pid in processes):
        seen[service.wait_for(event)["pid"]] += 1
