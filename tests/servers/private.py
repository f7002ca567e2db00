"""Servers that tests start for themselves, and stop when the session ends."""

import atexit
import socket
import time
from contextlib import suppress

#: Seconds in which a server starts on the slowest machine.
PATIENCE = 100.0
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
    """A port that nobody else is given while the session lasts, even when its server is down.

    It stays bound: the system gives it away neither to who asks for any port nor to a connection
    that goes out. A server that listens, and says as all do that it may be in use, gets it.
    """
    holder = socket.socket()
    at_end(holder.close)
    holder.bind(("127.0.0.1", 0))
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return holder.getsockname()[1]


def is_up(process, answers, rest=0.05):
    """Wait until a server answers; false when it ended instead, or takes too long."""
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        if answers():
            return True
        time.sleep(rest)
    return False
