"""A notifier that cannot be listened to is told of when that begins and when it is over."""

import logging

from tickwell.stores.hearing import Hearing

NAME = "redis://db/0"


def lines(caplog):
    told = [record.message for record in caplog.records]
    caplog.clear()
    return told


async def test_one_line_when_it_stops_and_one_when_it_is_back(caplog):
    hearing = Hearing(logging.getLogger("tickwell.stores.test"), 1.0)
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
