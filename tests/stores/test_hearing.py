"""A notifier that cannot be listened to is told of when that lasts and when it is over."""

import pytest

from tickwell.stores import hearing as module
from tickwell.stores.hearing import Hearing

NAME = "redis://db/0"


@pytest.fixture
def hearing():
    return Hearing(1.0)


def lines(caplog):
    told = [record.message for record in caplog.records]
    caplog.clear()
    return told


async def test_one_line_when_it_stops_and_one_when_it_is_back(caplog, monkeypatch, hearing):
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    hearing.is_back(NAME)
    assert lines(caplog) == []
    for _ in range(3):
        hearing.is_lost(NAME, "connection refused")
    assert lines(caplog) == [
        f"{NAME} cannot be listened to (connection refused): looking every 1 s instead"
    ]
    hearing.is_back(NAME)
    [back] = lines(caplog)
    assert back.startswith(f"{NAME} is listened to again after ")
    assert back.endswith(" s and 3 failed tries")
    hearing.is_lost(NAME, "no answer in time")
    assert len(lines(caplog)) == 1


async def test_a_server_that_is_away_for_a_moment_is_no_line_here(caplog, hearing):
    hearing.is_back(NAME)
    hearing.is_lost(NAME, "connection refused")
    hearing.is_back(NAME)
    assert lines(caplog) == []


async def test_what_could_never_be_listened_to_is_told_at_once(caplog, hearing):
    hearing.is_lost(NAME, "behind a pooler")
    hearing.is_lost(NAME, "behind a pooler")
    assert len(lines(caplog)) == 1
