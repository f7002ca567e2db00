"""The connections to broker and result backend, with real servers and no Celery worker."""

import os
import pickle
import threading
from pathlib import Path

import kombu
import psycopg
import pytest
import redis as driver
from celery import Celery as App
from celery.backends.database.models import Task
from sqlalchemy import PickleType, create_engine, insert
from sqlalchemy.engine import make_url

from tests.executors.celery.shop import message
from tests.faults.test_descriptors import sockets_to
from tests.proxy.proxy import proxied
from tests.servers import postgres, rabbitmq, redis
from tickwell.executors.celery import backends, client
from tickwell.executors.celery.backends import reader_of
from tickwell.executors.celery.client import Client
from tickwell.executors.celery.deadline_call import MOST_HANGING, DeadlineCall
from tickwell.executors.celery.message import Unusable
from tickwell.executors.celery.task_state import UNREADABLE, TaskState

DATABASE = 12


@pytest.fixture
def broker():
    """A database of the session's Redis for these tests alone."""
    url = redis.server().url.rpartition("/")[0] + f"/{DATABASE}"
    with driver.Redis.from_url(url) as connection:
        connection.flushdb()
        yield url
        connection.flushdb()


@pytest.fixture
def connect():
    made = []

    def connect(broker, backend="", monotonic=lambda: 0.0):
        made.append(Client(broker, backend, monotonic))
        return made[-1]

    yield connect
    for each in made:
        each.close()


class Evil:
    """Writes a file wherever it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.write_text, (self.path, "ran")


@pytest.mark.parametrize("column", ["bytes", "pickle"], ids=["celery-5.7", "celery-5.6"])
def test_a_pickled_row_is_never_unpickled(tmp_path, monkeypatch, column):
    """Celery before 5.7 pickles results, and unpickles what it reads of them."""
    ran = tmp_path / "ran"
    url = f"sqlite:///{tmp_path}/results.db"
    reader = reader_of(App("shop", backend=f"db+{url}", set_as_current=False))
    assert reader.read(["a"]) == {}
    engine = create_engine(url)
    with engine.begin() as connection:
        row = {"task_id": "a", "status": "SUCCESS", "result": pickle.dumps(Evil(ran))}
        connection.execute(insert(Task.__table__), [row])
    engine.dispose()
    if column == "pickle":
        monkeypatch.setattr(Task.__table__.c.result, "type", PickleType())
    state = reader.read(["a"])["a"]
    assert (state.status, state.result, bool(state.unread)) == ("SUCCESS", None, True)
    assert not ran.exists()


def test_a_database_that_does_not_answer_is_given_up(monkeypatch):
    url = make_url(postgres.server().url).set(drivername="postgresql+psycopg")
    backend = "db+" + url.render_as_string(hide_password=False)
    app = App("shop", backend=backend, set_as_current=False)
    assert reader_of(app).read(["a"]) == {}  # makes the tables
    with psycopg.connect(postgres.server().url) as other:
        other.execute("LOCK TABLE celery_taskmeta IN ACCESS EXCLUSIVE MODE")
        monkeypatch.setattr(backends, "ANSWER", 0.1)
        with pytest.raises(TimeoutError, match=r"no answer within 0\.1 s"):
            reader_of(app).read(["a"])
        monkeypatch.undo()
    assert reader_of(app).read(["a"]) == {}


def test_only_a_few_calls_hang_at_once():
    go, begun = threading.Event(), []

    def hang():
        begun.append(threading.current_thread())
        go.wait()

    call = DeadlineCall("hanging", 0.05)
    for _ in range(MOST_HANGING + 2):
        with pytest.raises(TimeoutError):
            call(hang)
    go.set()
    for thread in threading.enumerate():
        if thread.name == "hanging":
            thread.join()
    assert len(begun) == MOST_HANGING
    patient = DeadlineCall("patient", 100)
    assert patient(lambda: 7) == 7
    with pytest.raises(TimeoutError, match="its own"):
        patient(raise_timeout)


def raise_timeout():
    raise TimeoutError("its own")


def scans(url):
    with driver.Redis.from_url(url) as connection:
        return connection.info("commandstats").get("cmdstat_scan", {"calls": 0})["calls"]


def test_unknown_queues_share_one_scan(broker, connect):
    now = [0.0]
    one, before = connect(broker, monotonic=lambda: now[0]), scans(broker)
    for queue in ("a", "b", "c", "a"):
        with pytest.raises(Unusable, match=f"the broker has no queue '{queue}'"):
            one.check(queue)
    assert scans(broker) - before == 1
    with kombu.Connection(broker) as connection:
        kombu.Queue("b", kombu.Exchange("other"), "key")(connection.default_channel).declare()
        kombu.Queue("c", kombu.Exchange("c"), "c")(connection.default_channel).declare()
    one.check("c")  # bound as Celery does it: needs no scan
    with pytest.raises(Unusable):
        one.check("b")
    now[0] = 31.0
    one.check("b")
    assert scans(broker) - before == 2


def test_many_revokes_at_once_do_not_wait_for_each_other(broker, connect):
    one = connect(broker)
    together = threading.Barrier(16)
    done = []

    def revoke(number):
        together.wait()
        one.revoke(f"task-{number}", terminate=False)
        done.append(number)

    threads = [threading.Thread(target=revoke, args=(each,), daemon=True) for each in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(done) == list(range(16))


@pytest.mark.parametrize("kind", ["redis", "amqp"])
def test_it_hangs_up_on_the_broker(broker, connect, kind):
    """Celery's own pool belongs to the process, and stays open."""
    url, port = broker, redis.server().port
    if kind == "amqp":
        url, port = rabbitmq.server().url, rabbitmq.server().port
    with kombu.Connection(url) as connection:
        kombu.Queue("mine", kombu.Exchange("mine"), "mine")(connection.default_channel).declare()
    before = sockets_to(port, os.getpid())
    one = connect(url)
    one.send(message(queue="mine"))
    assert sockets_to(port, os.getpid()) > before
    one.close()
    assert sockets_to(port, os.getpid()) == before


@pytest.mark.parametrize("kind", ["redis", "amqp"])
def test_a_revoke_does_not_wait_for_ever(connect, monkeypatch, kind):
    server = redis.server() if kind == "redis" else rabbitmq.server()
    monkeypatch.setattr(client, "CONNECT", 0.2)
    monkeypatch.setattr(client, "ANSWER", 0.2)
    with proxied(server.port) as proxy:
        one = connect(server.url.replace(f":{server.port}", f":{proxy.port}"))
        proxy.stall()
        with pytest.raises(Exception, match=r"(?i)timed? ?out|temporarily unavailable"):
            one.revoke("task", terminate=True)
        proxy.heal()


def test_a_reply_that_is_not_json_is_one_state_and_the_others_are_read():
    app = App("shop", broker=rabbitmq.server().url, backend="rpc://", set_as_current=False)
    reader = reader_of(app)
    assert reader.read(["pickled", "plain"]) == {}  # makes their queues
    with app.connection_for_write() as connection:
        producer = kombu.Producer(connection.default_channel)
        reply = {"status": "SUCCESS", "result": 7}
        for task_id, serializer in (("pickled", "pickle"), ("plain", "json")):
            producer.publish(reply, routing_key=reader.reply_to(task_id), serializer=serializer)
    found: dict[str, TaskState] = {}
    while len(found) < 2:
        found = reader.read(["pickled", "plain"])
    assert (found["pickled"].status, found["pickled"].has_ended) == (UNREADABLE, True)
    assert (found["plain"].status, found["plain"].result) == ("SUCCESS", 7)
    assert reader.read([]) == {}  # deletes the queues
    reader.close()


def test_rabbitmq_says_that_an_exchange_is_unknown(connect):
    with pytest.raises(Unusable, match="bound to the exchange 'nowhere' with that routing key"):
        connect(rabbitmq.server().url).send(message(queue="", exchange="nowhere", routing_key="a"))


def test_a_redis_without_tls_is_named_as_a_cause(connect, monkeypatch):
    monkeypatch.setattr(client, "CONNECT", 0.2)
    monkeypatch.setattr(client, "ANSWER", 0.2)
    with pytest.raises(Unusable, match="or use redis:// if it has no TLS"):
        connect(redis.server().url.replace("redis:", "rediss:")).check()


@pytest.mark.parametrize("scheme", ["amqp", "pyamqp"])
def test_rabbitmq_says_that_a_queue_is_unknown(connect, scheme):
    one = connect(rabbitmq.server().url.replace("amqp://", f"{scheme}://"))
    with pytest.raises(Unusable, match="the broker has no queue 'nobody'"):
        one.send(message(queue="nobody"))


def test_a_password_is_in_no_message(connect):
    """Neither as the URL writes it nor as the server gets it."""
    one = connect("redis://:pa%2Fss@127.0.0.1:1/0")
    with pytest.raises(Unusable, match="cannot be reached"):
        one.check()
    for said in ("bad pa/ss here", "bad redis://:pa%2Fss@host here"):
        words = str(one._unusable(OSError(said), "broker", "broker"))
        assert "pa/ss" not in words
        assert "pa%2Fss" not in words
