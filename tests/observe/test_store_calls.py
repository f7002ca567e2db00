"""A store whose calls are timed is the same store."""

from contextlib import contextmanager

import pytest

from tests.observe.metrics.reports import values_of
from tickwell.errors import StoreUnavailable
from tickwell.observe.metrics.counting import Counting
from tickwell.observe.metrics.series import Series
from tickwell.observe.store_calls import OPERATIONS, ObservedStore
from tickwell.ports.inspected import Inspected
from tickwell.ports.transactional import TransactionalStore
from tickwell.stores.memory import MemoryStore
from tickwell.wiring import leave_missing, make_store


class Away(MemoryStore):
    async def ping(self):
        raise StoreUnavailable("away")


class Before:
    """A store that stands before another one, as Redis beside a database does."""

    notifier = "a notifier"

    def __init__(self, store):
        self.store = store

    def __getattr__(self, name):
        return getattr(self.store, name)


async def test_each_call_is_counted_and_its_answer_passed_on():
    counting = Counting(Series())
    store = ObservedStore(MemoryStore(), record=counting.record)
    await store.open()
    assert await store.stats() == await MemoryStore().stats()
    assert await store.list_workers() == []
    found = values_of(counting.series)
    assert found["tickwell_store_operation_seconds", "stats", "count"] == 1
    assert found["tickwell_store_operation_seconds", "list_workers", "count"] == 1
    assert store.under_way == 0
    assert {"claim", "finish", "beat", "get_record"} < set(OPERATIONS)
    await store.close()


async def test_a_failed_call_is_counted_and_raised():
    counting = Counting(Series())
    store = ObservedStore(Away(), record=counting.record)
    with pytest.raises(StoreUnavailable):
        await store.ping()
    assert values_of(counting.series)["tickwell_store_errors_total", "ping"] == 1


async def test_a_recorder_that_fails_does_not_fail_the_call():
    def record(call):
        raise ValueError(call.operation)

    store = ObservedStore(MemoryStore(), record=record)
    await store.open()
    assert await store.list_workers() == []


async def test_an_operation_is_inside_its_span():
    seen = []

    @contextmanager
    def span(name, _arguments):
        seen.append(f"{name} begins")
        yield
        seen.append(f"{name} ends")

    store = ObservedStore(MemoryStore(), span=span)
    await store.stats()
    assert seen == ["stats begins", "stats ends"]


@pytest.mark.parametrize("wrapped", [False, True])
def test_what_a_store_can_do_is_still_seen(wrapped, tmp_path):
    for url in (f"sqlite:///{tmp_path}/jobs.db", "postgresql://host/db", "memory://"):
        bare = make_store(url)
        store = ObservedStore(Before(bare) if wrapped else bare)
        for protocol in (TransactionalStore, Inspected):
            assert isinstance(store, protocol) == isinstance(bare, protocol)
        assert store.name == bare.name
        if wrapped:
            assert store.notifier == "a notifier"


def test_it_is_told_not_to_set_up_what_is_missing():
    bare = make_store("postgresql://host/db")
    leave_missing(ObservedStore(Before(bare)))
    assert vars(bare)["makes"] is False
