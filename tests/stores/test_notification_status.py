"""A lasting failure of a notifier is logged, and so is its end."""

import pytest

from tickwell.stores import notification_status as module
from tickwell.stores.notification_status import NotificationStatus

NAME = "redis://db/0"


@pytest.fixture
def status():
    return NotificationStatus(1.0)


def lines(caplog):
    told = [record.message for record in caplog.records]
    caplog.clear()
    return told


async def test_one_line_when_it_stops_and_one_when_it_is_back(caplog, monkeypatch, status):
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    status.is_back(NAME)
    assert lines(caplog) == []
    for _ in range(3):
        status.is_lost(NAME, "connection refused")
    assert lines(caplog) == [
        f"{NAME} is unavailable (connection refused); polling every 1 s instead"
    ]
    status.is_back(NAME)
    [back] = lines(caplog)
    assert back.startswith(f"{NAME} works again after ")
    assert back.endswith(" s and 3 failed tries")
    status.is_lost(NAME, "no answer in time")
    assert len(lines(caplog)) == 1


async def test_a_server_that_is_away_for_a_moment_is_no_line_here(caplog, status):
    status.is_back(NAME)
    status.is_lost(NAME, "connection refused")
    status.is_back(NAME)
    assert lines(caplog) == []


async def test_what_could_never_be_listened_to_is_told_at_once(caplog, status):
    status.is_lost(NAME, "behind a pooler")
    status.is_lost(NAME, "behind a pooler")
    assert len(lines(caplog)) == 1
