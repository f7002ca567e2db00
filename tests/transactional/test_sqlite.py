"""A run asked for on a connection of sqlite3 belongs to that connection's transaction."""

import sqlite3

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.orm import Session

from tests.transactional.shop import TABLE, runs, scheduler_on, until
from tickwell import Scheduler
from tickwell.clock import to_datetime
from tickwell.domain.gate import Concurrency
from tickwell.domain.target import Call
from tickwell.errors import Conflict, InvalidInput, InvalidPayload, NotFound, StoreRefused
from tickwell.services.time import After


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.db"


@pytest.fixture
async def scheduler(path):
    scheduler = scheduler_on(f"sqlite:///{path}")
    async with scheduler:
        yield scheduler


@pytest.fixture
def connection(scheduler, path):
    connection = sqlite3.connect(path, timeout=60)
    connection.execute(TABLE.format("orders"))
    yield connection
    connection.close()


def orders(path):
    connection = sqlite3.connect(path)
    try:
        return [number for (number,) in connection.execute("SELECT number FROM orders")]
    finally:
        connection.close()


async def test_nothing_is_seen_before_the_commit_and_all_after_it(scheduler, connection, path):
    connection.execute("INSERT INTO orders VALUES (1)")
    id = scheduler.transactions.trigger(connection, "send_email", {"order": 1})
    assert await runs(scheduler) == set()
    assert orders(path) == []
    connection.commit()
    assert await runs(scheduler) == {id}
    await until(lambda: scheduler.sent == [1])
    assert orders(path) == [1]


async def test_a_rollback_leaves_nothing(scheduler, connection, path):
    connection.execute("INSERT INTO orders VALUES (1)")
    scheduler.transactions.trigger(connection, "send_email", {"order": 1}, key="order-1")
    connection.rollback()
    assert await runs(scheduler) == set()
    again = scheduler.transactions.trigger(connection, "send_email", {"order": 2}, key="order-1")
    connection.commit()
    assert await runs(scheduler) == {again}
    await until(lambda: scheduler.sent == [2])
    assert orders(path) == []


async def test_the_same_key_is_the_same_run(scheduler, connection):
    first = scheduler.transactions.trigger(connection, "send_email", {"order": 1}, key="order-1")
    second = scheduler.transactions.trigger(connection, "send_email", {"order": 1}, key="order-1")
    assert first == second
    connection.commit()
    later = await scheduler.trigger("send_email", {"order": 1}, key="order-1")
    assert later.id == first
    await until(lambda: scheduler.sent == [1])


async def test_the_same_key_with_another_payload_is_a_conflict(scheduler, connection, path):
    first = scheduler.transactions.trigger(connection, "send_email", {"order": 1}, key="order-1")
    connection.execute("INSERT INTO orders VALUES (1)")
    for _ in range(2):  # before the commit, and after it
        with pytest.raises(Conflict, match=f"belongs to execution {first}"):
            scheduler.transactions.trigger(connection, "send_email", {"order": 2}, key="order-1")
        connection.commit()
    assert await runs(scheduler) == {first}
    assert orders(path) == [1]
    await until(lambda: scheduler.sent == [1])


async def test_the_callers_way_to_see_rows_stays_its_own(scheduler, connection):
    connection.row_factory = sqlite3.Row
    connection.text_factory = bytes
    scheduler.transactions.trigger(connection, "send_email", {"order": 1})
    assert connection.row_factory is sqlite3.Row
    assert connection.text_factory is bytes
    connection.commit()
    await until(lambda: scheduler.sent == [1])


async def test_a_gate_lets_one_through(path):
    quiet = Scheduler(f"sqlite:///{path}")
    await quiet.open()
    only_one = Concurrency(key="printer", limit=1)
    await quiet.add_job("print", None, Call("print"), concurrency=only_one)
    connection = sqlite3.connect(path)
    ids = [quiet.transactions.trigger(connection, "print") for _ in range(2)]
    connection.commit()
    connection.close()
    states = [(await quiet.get_execution(id)).state for id in ids]
    assert states == ["queued", "blocked"]
    await quiet.stop()


async def test_a_failure_takes_back_only_what_the_call_did(scheduler, connection, path):
    connection.execute("INSERT INTO orders VALUES (1)")
    with pytest.raises(NotFound):
        scheduler.transactions.trigger(connection, "send_mail", {"order": 1})
    connection.commit()
    assert orders(path) == [1]
    with pytest.raises(NotFound):
        scheduler.transactions.trigger(connection, "send_mail", {"order": 1})
    assert not connection.in_transaction


async def test_nobody_writes_between_what_is_read_and_what_is_recorded(scheduler, path):
    connection = sqlite3.connect(path, timeout=60, isolation_level=None)
    connection.execute("BEGIN")  # without the write lock, as Django begins
    other = sqlite3.connect(path, timeout=0)

    def meddle(_job, _payload):
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("CREATE TABLE meanwhile (x)")

    scheduler.transactions.check = meddle
    id = scheduler.transactions.trigger(connection, "send_email", {"order": 1})
    connection.commit()
    connection.close()
    other.close()
    assert await runs(scheduler) == {id}
    await until(lambda: scheduler.sent == [1])


async def test_a_run_may_be_recorded_for_later(scheduler, connection):
    execution = scheduler.transactions.record(
        connection, "send_email", {"order": 1}, run_at=After(3_600_000)
    )
    assert await runs(scheduler) == set()
    connection.commit()
    found = await scheduler.get_execution(execution.id)
    assert (found.state, found.run_at) == ("waiting", to_datetime(execution.run_at))
    assert execution.run_at == execution.created_at + 3_600_000


async def test_without_a_transaction_it_is_refused(scheduler, path):
    connection = sqlite3.connect(path, isolation_level=None)
    with pytest.raises(InvalidInput, match="no transaction is open"):
        scheduler.transactions.trigger(connection, "send_email", {"order": 1})
    connection.execute("BEGIN IMMEDIATE")
    scheduler.transactions.trigger(connection, "send_email", {"order": 1})
    connection.execute("COMMIT")
    connection.close()
    await until(lambda: scheduler.sent == [1])


@pytest.mark.parametrize("other", ["other.db", ":memory:"])
async def test_another_file_is_refused(scheduler, tmp_path, other):
    connection = sqlite3.connect(other if other == ":memory:" else tmp_path / other)
    with pytest.raises(StoreRefused, match="in the same file only"):
        scheduler.transactions.trigger(connection, "send_email", {"order": 1})
    connection.close()


def test_a_file_without_our_tables_is_refused(tmp_path):
    connection = sqlite3.connect(tmp_path / "new.db")
    connection.execute(TABLE.format("orders"))
    scheduler = scheduler_on(f"sqlite:///{tmp_path}/new.db")
    with pytest.raises(StoreRefused, match="start the scheduler once"):
        scheduler.transactions.trigger(connection, "send_email", {"order": 1})
    connection.close()


async def test_what_is_no_connection_is_refused(scheduler, connection):
    with pytest.raises(InvalidInput, match=r"builtins\.str is not a sqlite3 connection"):
        scheduler.transactions.trigger("orders.db", "send_email")
    with pytest.raises(InvalidInput, match="255 printable"):
        scheduler.transactions.trigger(connection, "send_email", key="")
    with pytest.raises(InvalidPayload):
        scheduler.transactions.trigger(connection, "send_email", {"order": object()})
    with pytest.raises(InvalidInput, match="does not support transactions"):
        Scheduler("memory://").transactions.trigger(connection, "send_email")


async def test_sqlalchemy_on_sqlite(scheduler, connection, path):
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as transaction:
        transaction.execute(text("INSERT INTO orders VALUES (1)"))
        scheduler.transactions.trigger(transaction, "send_email", {"order": 1})
    with Session(engine) as session:
        scheduler.transactions.trigger(session, "send_email", {"order": 2})
        session.rollback()
        scheduler.transactions.trigger(session, "send_email", {"order": 3})
        session.commit()
    engine.dispose()
    await until(lambda: len(scheduler.sent) == 2)
    assert sorted(scheduler.sent) == [1, 3]
    assert orders(path) == [1]


@pytest.mark.parametrize("payload", [None, {"order": "soon"}, {"number": 1}, [1, 2]])
async def test_arguments_that_the_handler_does_not_take_are_refused(
    scheduler, connection, path, payload
):
    connection.execute("INSERT INTO orders VALUES (1)")
    with pytest.raises(InvalidPayload):
        scheduler.transactions.trigger(connection, "send_email", payload)
    connection.commit()
    assert orders(path) == [1]
    assert await runs(scheduler) == set()
