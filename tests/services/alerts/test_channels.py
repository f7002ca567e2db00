"""Channels: made by admins, reached as their receivers expect, and kept without their secrets."""

import json
import random
import ssl
from typing import Any

import pytest

from tests.executors.http.conftest import LOCAL
from tests.executors.http.receiver import Receiver, answers
from tests.services.conftest import WORKER, Clock
from tickwell.domain.alert import ChannelKind
from tickwell.domain.alert.message import Message, MessageType
from tickwell.domain.outcome import decide
from tickwell.domain.target import Call
from tickwell.errors import Forbidden, InvalidInput, NotFound
from tickwell.executors.http.executor import HttpExecutor
from tickwell.executors.http.network.guard import Guard
from tickwell.ports.records import ClaimRequest, JobFilter
from tickwell.receivers import verify
from tickwell.services.access.actor import Actor, Role, permissions_of
from tickwell.services.admin.admin import AdminServices
from tickwell.services.alerts.book import MOST_CHANNELS, read_channels
from tickwell.services.alerts.delivery import send_to
from tickwell.services.executions.executions import Executions
from tickwell.services.jobs.jobs import Jobs
from tickwell.services.keyring import Keyring, ServerKey
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.secrets.source import StoredSecrets
from tickwell.stores.memory import MemoryStore

PROJECT = "default"
KEY = "0123456789abcdef0123456789abcdef"
TOKEN = "a-token-that-nobody-guesses"
URL = f"https://chat.example.com/hooks/{TOKEN}"
SLACK, TEAMS = ChannelKind.SLACK, ChannelKind.TEAMS
PAGERDUTY, WEBHOOK, EMAIL = ChannelKind.PAGERDUTY, ChannelKind.WEBHOOK, ChannelKind.EMAIL


def actor(role=Role.ADMIN):
    return Actor(name="user:ada", project=PROJECT, permissions=permissions_of(role))


class Desk:
    """Channels over a store, and a worker that sends what they are sent."""

    def __init__(self, store):
        clock: Any = Clock()
        clock.monotonic = lambda: clock.instant / 1000
        self.store, self.clock = store, clock
        source, keyring = random.Random(1), Keyring([ServerKey(bytes(range(32)))])
        jobs = Jobs(store, self.clock, source, lambda: None)
        self.runs = Executions(store, self.clock, source, lambda: None)
        self.channels = AdminServices.over(store, self.clock, source, keyring, jobs).channels
        self.executor = HttpExecutor(
            self.clock,
            Guard(**LOCAL),
            secrets=StoredSecrets(store, self.clock, lambda: keyring),
            make_context=ssl.create_default_context,
        )
        self.messages = 0

    async def add(self, name="ops", kind=WEBHOOK, url=URL, **fields):
        return await self.channels.create(actor(), name, kind, url=url, **fields)

    async def alert(self, channel, type=MessageType.FIRING, firing=1):
        """A message to it, which waits to be sent."""
        self.messages += 1
        said = Message(
            type=type,
            at=self.clock.instant,
            project=PROJECT,
            rule="r1",
            condition="missing",
            words="no success for 1h",
            severity="critical",
            number=self.messages,
            count=2,
            firing=firing,
        )
        return await send_to(self.runs, PROJECT, channel, said, f"k{self.messages}")

    async def work(self):
        """Claim what is due and send it; the outcomes."""
        self.clock.instant += 1000
        now = self.clock.instant
        await self.store.promote(now, 0, 100)
        await self.store.beat(WORKER, now)
        request = ClaimRequest(
            worker=WORKER.id,
            claim_id=f"c{now}",
            now=now,
            lead=0,
            limit=99,
            queues=("default",),
            abilities=frozenset({"http"}),
        )
        outcomes = []
        for claim in await self.store.claim(request):
            outcomes.append(await self.executor.run(claim))
            await self.store.finish([decide(claim, outcomes[-1], now)], now)
        return outcomes


@pytest.fixture
async def desk():
    store = MemoryStore()
    await store.open()
    made = Desk(store)
    yield made
    await made.executor.close()
    await store.close()


async def sent_to(desk, made, behaviour, *messages):
    """What its receiver got of these messages, sent one after the other."""
    for message in messages:
        await desk.alert(made.channel, **message)
        outcomes = await desk.work()
        assert [each.kind for each in outcomes] == ["succeeded"], outcomes
    return [json.loads(each.body) for each in behaviour.exchanges]


async def test_a_webhook_is_signed_with_the_key_that_was_shown(desk):
    async with Receiver(answers()) as receiver:
        made = await desk.add(url=receiver.url())
        (body,) = await sent_to(desk, made, receiver, {})
    last, now = receiver.last, desk.clock.instant / 1000
    assert verify(last.body, last.headers, made.signing_key, now=now).job == made.channel.id
    assert body["type"] == "alert.firing"


async def test_a_chat_is_reached_at_the_url_whose_token_is_a_secret(desk):
    for kind in (SLACK, TEAMS):
        async with Receiver(answers(202 if kind is TEAMS else 200)) as receiver:
            made = await desk.add(kind.value, kind, url=receiver.url(f"/hooks/{TOKEN}?v=1"))
            (body,) = await sent_to(desk, made, receiver, {})
            assert receiver.last.line == f"POST /hooks/{TOKEN}?v=1 HTTP/1.1"
        assert receiver.last.headers["content-type"] == "application/json"
        assert "no success for 1h" in json.dumps(body)
        assert made.signing_key is None


async def test_pagerduty_triggers_and_resolves_one_incident_in_order(desk):
    incidents = {}

    async def events(exchange):
        event = json.loads(exchange.body)
        is_good = (
            event["routing_key"] == KEY
            and {"summary", "source", "severity"} <= event["payload"].keys()
            and event["payload"]["severity"] in {"critical", "error", "warning", "info"}
        )
        assert is_good, event
        incidents[event["dedup_key"]] = event["event_action"]
        await answers(202, b'{"status": "success"}')(exchange)

    async with Receiver(events) as receiver:
        made = await desk.add("pager", PAGERDUTY, url=receiver.url("/v2/enqueue"), key=KEY)
        over = {"type": MessageType.RESOLVED, "firing": 0}
        await sent_to(desk, made, receiver, {})
        assert incidents == {"tickwell/default/r1": "trigger"}
        await sent_to(desk, made, receiver, over)
        assert incidents == {"tickwell/default/r1": "resolve"}


async def test_a_message_to_pagerduty_waits_for_the_one_before(desk):
    """An event that is sent again late would open an incident that nothing resolves."""
    async with Receiver(answers(503)) as receiver:
        made = await desk.add("pager", PAGERDUTY, url=receiver.url(), key=KEY)
        await desk.alert(made.channel)
        assert [each.kind for each in await desk.work()] == ["failed"]
        await desk.alert(made.channel, MessageType.RESOLVED, firing=0)
        assert await desk.work() == []
        receiver.behaviour = answers(202)
        for _ in range(60):
            await desk.work()
        actions = [json.loads(each.body)["event_action"] for each in receiver.exchanges]
    assert actions == ["trigger", "trigger", "resolve"]


async def test_a_delivery_that_is_refused_is_a_dead_letter(desk):
    async with Receiver(answers(404, b"no_service")) as receiver:
        made = await desk.add(kind=SLACK, url=receiver.url(f"/hooks/{TOKEN}"))
        id = await desk.alert(made.channel)
        await desk.work()
    found = await desk.store.get_execution(PROJECT, id)
    assert (found.state, found.error.startswith("HTTP 404")) == ("dead", True)
    assert TOKEN not in str(found)


async def test_mail_is_sent_by_workers_that_have_an_smtp_server(desk):
    to = ["ann@example.com", "bob@example.com"]
    made = await desk.add(kind=EMAIL, url=None, to=to)
    id = await desk.alert(made.channel)
    assert await desk.work() == []  # this worker has none
    sent = await desk.store.get_execution(PROJECT, id)
    entry = (await desk.store.get_jobs(PROJECT, [sent.job_id]))[0]
    assert entry.job.target == Call("tickwell.email")
    assert sent.payload.keys() == {"to", "subject", "text"}
    assert (sent.payload["to"], made.channel.to) == (", ".join(to), ", ".join(to))
    assert made.signing_key is None


async def test_secrets_are_neither_in_records_nor_in_the_job_nor_in_the_log(desk):
    chat = await desk.add("chat", SLACK)
    await desk.add("pager", PAGERDUTY, url=None, key=KEY)
    hook = await desk.add("hook")
    kinds = ("alert_channel", "audit")
    stored = [await desk.store.list_records(kind, PROJECT, "", 0) for kind in kinds]
    jobs = (await desk.store.list_jobs(JobFilter(project=PROJECT), None, 10)).items
    written = f"{stored} {jobs} {chat}"
    for secret in (KEY, hook.signing_key):
        assert secret not in written
    assert f"hooks/{TOKEN}" not in written.replace(str(hook.channel.to), "")
    assert chat.channel.to == "https://chat.example.com/hooks/…"
    actions = [entry["action"] for each in stored[1] for entry in each.document["entries"]]
    assert actions == ["channel.create"] * 3


async def test_a_deleted_channel_leaves_no_job_and_no_secret(desk):
    made = await desk.add()
    await desk.alert(made.channel)
    await desk.channels.delete(actor(), "ops")
    assert await read_channels(desk.store, PROJECT, desk.clock.instant) == []
    assert await desk.store.list_records("secret", PROJECT, "", 0) == []
    assert await desk.work() == []
    assert await desk.alert(made.channel) is None
    with pytest.raises(NotFound):
        await desk.channels.delete(actor(), "ops")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a/b"}, "name"),
        ({"name": "taken"}, "name"),
        ({"url": None}, "url"),
        ({"url": "chat.example.com"}, "url"),
        ({"key": KEY}, "key"),
        ({"kind": PAGERDUTY}, "key"),
        ({"kind": EMAIL}, "to"),
        ({"kind": EMAIL, "url": None}, "to"),
        ({"kind": EMAIL, "url": None, "to": ["ann"]}, "to"),
        ({"kind": EMAIL, "url": None, "to": ["a@example.com\nBcc: b@example.com"]}, "to"),
        ({"kind": EMAIL, "url": None, "to": ["team:a@example.com"]}, "to"),
        ({"kind": EMAIL, "url": None, "to": ["=?utf-8?q?b=40b=2C?=@example.com"]}, "to"),
        ({"kind": EMAIL, "url": None, "to": ["a\x01@example.com"]}, "to"),
        ({"kind": EMAIL, "url": None, "to": ["a@example.com"] * 21}, "to"),
        ({"kind": EMAIL, "to": ["a@example.com"]}, "url"),
    ],
)
async def test_what_cannot_be_a_channel_is_refused(desk, fields, field):
    await desk.add("taken")
    with pytest.raises(InvalidInput) as caught:
        await desk.add(**fields)
    assert caught.value.field == field
    assert len(await read_channels(desk.store, PROJECT, desk.clock.instant)) == 1


async def test_a_project_has_so_many_channels_and_no_more(desk):
    for number in range(MOST_CHANNELS):
        await desk.add(f"c{number}")
    with pytest.raises(InvalidInput, match="at most"):
        await desk.add("more")


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.EDITOR])
async def test_only_admins_add_and_delete_channels(desk, role):
    with pytest.raises(Forbidden):
        await desk.channels.create(actor(role), "ops", WEBHOOK, url=URL)
    with pytest.raises(Forbidden):
        await desk.channels.delete(actor(role), "ops")


async def test_a_project_is_evaluated_from_its_first_channel_on(desk):
    await desk.add()
    evaluated = await desk.store.list_records("alert_project", PLATFORM, "", 0)
    assert [each.key for each in evaluated] == [PROJECT]
