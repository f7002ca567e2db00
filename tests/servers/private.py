"""Servers that tests start for themselves, and stop when the session ends."""

import atexit
import socket
from contextlib import suppress

_STOPS: list = []


def at_end(stop):
    """Have this called when the session ends, whatever became of it."""
    _STOPS.append(stop)


def stop_all():
    while _STOPS:
        with suppress(Exception):
            _STOPS.pop()()


atexit.register(stop_all)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
