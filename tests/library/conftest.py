"""What tests of the library share."""

import threading

import pytest

DEADLINE = 100


@pytest.fixture
def ours():
    """Answers the threads of Tickwell that began within the test and do not end."""
    before = set(threading.enumerate())

    def left():
        begun = [each for each in threading.enumerate() if each not in before]
        found = [each for each in begun if each.name.startswith("tickwell")]
        for thread in found:
            thread.join(DEADLINE)
        return [thread.name for thread in found if thread.is_alive()]

    return left
