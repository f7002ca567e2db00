"""Whatever is given in the wrong kind is refused in one sentence that names the place."""

from collections.abc import Callable
from datetime import date
from math import inf, nan
from typing import Any

import pytest

from tickwell import (
    Calendar,
    Call,
    Concurrency,
    Cron,
    Every,
    Misfire,
    Retention,
    Retry,
    Scheduler,
    Settings,
    Timeout,
)
from tickwell.errors import InvalidInput
from tickwell.wiring import make_store


def declare(**options):
    async def noop() -> None: ...

    return Scheduler("memory://").job(Every("5m"), **options)(noop)


def next_of(trigger, after):
    return trigger.next(after)


REFUSED: list[tuple[Callable[..., object], dict[str, Any], str]] = [
    (make_store, {"url": "sqlite:///a\0b.db"}, "store: .* null character in the name of its file"),
    (make_store, {"url": "sqlite:///a%00b.db"}, "store: .* null character in the name of its file"),
    (make_store, {"url": "memory://foo"}, "store: .* neither a place nor options. Use memory://"),
    (make_store, {"url": "memory://?a=1"}, "store: .* neither a place nor options. Use memory://"),
    (Calendar, {"name": "x", "ranges": ["2026-01-01"]}, "ranges: .* not a first and a last date"),
    (Calendar, {"name": "x", "ranges": 5}, "exclude.ranges: 5 is not a list"),
    (Calendar, {"name": "x", "dates": 5}, "exclude.dates: 5 is not a list"),
    (Calendar, {"name": "x", "dates": "2026-12-25"}, "exclude.dates: .* is not a list"),
    (Retry, {"jitter": "a"}, "retry.jitter: 'a' is not a number"),
    (Retry, {"jitter": None}, "retry.jitter: None is not a number"),
    (Retry, {"jitter": True}, "retry.jitter: True is not a number"),
    (Retry, {"factor": "2"}, "retry.factor: '2' is not a number"),
    (Retry, {"cap": None}, "retry.cap: is not a duration"),
    (Retry, {"max_attempts": None}, "retry.max_attempts: None is not a whole number"),
    (Timeout, {"hard": None}, "timeout.hard: is not a duration"),
    (Misfire, {"grace": None}, "misfire.grace: is not a duration"),
    (Misfire, {"cap": None}, "misfire.cap: None is not a whole number"),
    (Retention, {"age": None}, "retention.age: is not a duration"),
    (Retention, {"count": None}, "retention.count: None is not a whole number"),
    (Concurrency, {"key": "a", "limit": None}, "concurrency.limit: None is not a whole number"),
    (Call, {"handler": 5}, "target.call.handler: a handler has a name"),
    (declare, {"priority": None}, "priority: None is not a whole number"),
    (declare, {"timeout": 30}, 'timeout.hard: must have a unit; got 30. Write "30s" for seconds'),
    (declare, {"timeout": 0.5}, "timeout.hard: must have a unit; got 0.5"),
    (declare, {"concurrency": 5}, "concurrency: 5 is not a Concurrency"),
    (declare, {"tags": "abc"}, "tags: 'abc' is not a tuple of texts"),
    (declare, {"tags": None}, "tags: None is not a tuple of texts"),
    (declare, {"name": ""}, "^name: 1 to 255 printable characters"),
    (declare, {"name": "  "}, "^name: 1 to 255 printable .* Spaces alone are no name"),
    (declare, {"queue": " "}, "^queue: 1 to 255 printable .* Spaces alone are no name"),
    (declare, {"name": 5}, "^name: 1 to 255 printable characters"),
    (Settings, {"capacity": "a"}, "capacity: a whole number is needed"),
    (Settings, {"capacity": True}, "capacity: a whole number is needed"),
    (Settings, {"threads": None}, "threads: a whole number is needed"),
    (Settings, {"drain_timeout": -1}, "drain_timeout: must be between 0 and 100 years"),
    (Settings, {"beat": 10}, 'beat: must have a unit; got 10. Write "10s" for seconds or'),
    (Settings, {"beat": 0.5}, 'beat: must have a unit; got 0.5. Write "0.5s" for seconds, or'),
    (Settings, {"beat": "10"}, "beat: must have a unit; got 10"),
    (Settings, {"sweep": "0s"}, "sweep: must be longer than 0"),
    (Settings, {"sweep": nan}, "sweep: must be between 0 and 100 years"),
    (Settings, {"sweep": inf}, "sweep: must be between 0 and 100 years"),
    (Settings, {"auth": "no"}, "auth: True or False is needed"),
    (Settings, {"notify": 5}, "notify: a text or None is needed"),
    (Settings, {"queues": "default"}, "queues: a tuple of texts is needed"),
    (Settings, {"queues": (1,)}, "queues: a tuple of texts is needed"),
    (Settings, {"queues": ()}, "queues: must have at least one name"),
    (Cron, {"expr": "0 0 * * *", "tz": "localtime"}, "tz: no time zone 'localtime'. For example"),
    (next_of, {"trigger": Cron("0 0 * * *"), "after": None}, "after: is not a datetime"),
    (next_of, {"trigger": Cron("0 0 * * *"), "after": "2026"}, "after: is not a datetime"),
    (next_of, {"trigger": Every("5m"), "after": date(2026, 1, 1)}, "after: is not a datetime"),
]


@pytest.mark.parametrize(("make", "given", "why"), REFUSED)
def test_is_refused(make, given, why):
    with pytest.raises(InvalidInput, match=why):
        make(**given)


async def test_a_key_that_is_no_text_is_refused():
    scheduler = Scheduler("memory://")

    @scheduler.job()
    async def noop() -> None: ...

    async with scheduler:
        with pytest.raises(InvalidInput, match="key: 1 to 255 printable characters"):
            await noop.options(key=5).trigger()  # type: ignore[arg-type]


async def test_tags_may_be_a_list_and_each_is_kept_once():
    scheduler = Scheduler("memory://")
    async with scheduler:
        added = await scheduler.add_job("tagged", None, Call("noop"), tags=["a", "b", "a"])
    assert added.tags == ("a", "b")
