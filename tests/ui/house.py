"""A service that asks who one is, without a network: pages by httpx, attempts ended by hand."""

import random
from dataclasses import replace
from html.parser import HTMLParser

import httpx

from tests.ui.site import OPEN
from tickwell.clock import StoreClock
from tickwell.domain.backlog import Backlog, FireRange
from tickwell.domain.change import Change
from tickwell.domain.event import Events
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.health import ProcessHealth
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.planning import Plan
from tickwell.domain.policy import HOUR, MINUTE
from tickwell.domain.worker import Worker
from tickwell.engine.planning.backlog_gates import BacklogGates
from tickwell.ports.records import ClaimRequest
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.operations import OperationContext
from tickwell.settings import Settings
from tickwell.stores.memory import MemoryStore
from tickwell.ui.rendering import POLICY
from tickwell.web.access import first_start
from tickwell.wiring import make_api

WORKER = Worker(
    id="w", host="h", pid=1, queues=("default",), abilities=("call:*/x",), capacity=99, started_at=0
)
#: With a dot, so that cookies are kept for it as they are.
HOST = "tickwell.test"
OWNER = Actor(name="user:local", project="default", permissions=frozenset(Permission))


class House:
    """The first start has been: there are the project `default`, its admin `local`, and a key."""

    def __init__(self, folder, **settings):
        known = OPEN | {"auth": True, "secret_key_file": str(folder / "server.key")}
        self.settings = Settings(store="memory://", **(known | settings))
        self.claims = 0

    async def __aenter__(self):
        self.store, self.clock = MemoryStore(), StoreClock()
        await self.store.open()
        sent = self.clock.monotonic()
        self.clock.sample(await self.store.ping(), sent, self.clock.monotonic())
        operation_context = OperationContext(
            store=self.store, clock=self.clock, random=random.Random(1), wake=lambda: None
        )
        self.app = make_api(
            operation_context,
            health=lambda: ProcessHealth(ok=True),
            settings=self.settings,
            events=Events(),
        )
        self.context = self.app.state.context
        first = await first_start(self.context, operation_context)
        assert first is not None
        self.first = first
        self.admin = self.context.admin
        self.browsers = []
        return self

    async def __aexit__(self, *_):
        for browser in self.browsers:
            await browser.http.aclose()
        await self.context.close()
        await self.store.close()

    def browser(self, scheme="http"):
        """A browser that nobody has logged in with."""
        self.browsers.append(Browser(self.app, f"{scheme}://{HOST}"))
        return self.browsers[-1]

    async def link(self, name):
        """The token of a link that logs somebody in."""
        user = await self.admin.directory.read(name)
        assert user is not None
        return await self.admin.links.make(user)

    async def login(self, name="local", scheme="http"):
        """One with a session of this user."""
        browser = self.browser(scheme)
        answer = await browser.post("/login", link=await self.link(name))
        assert answer.status_code == 303, answer.text
        return browser

    async def add(self, name, **fields):
        """A job, over the API."""
        body = {"name": name, "trigger": {"on_demand": True}, "target": {"call": {"handler": "x"}}}
        headers = {"authorization": f"Bearer {self.first.key}"}
        answer = await self.browser().http.post("/api/v1/jobs", json=body | fields, headers=headers)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    async def hold(self, job, runs=1):
        """Let a job hold missed fires, a minute apart, as a planner leaves it."""
        now = self.clock.now()
        last = FireRange(now - HOUR, now - HOUR + (runs - 1) * MINUTE, runs)
        backlog = Backlog(ranges=(last,), since=now, until=now + HOUR)
        (entry,) = await self.store.get_jobs("default", [job])
        held = replace(entry.cursor, backlog=backlog)
        gates = BacklogGates(self.store, self.clock, Settings(store="memory://"))
        gates.admit(entry.job, entry.cursor, Plan(held), now)
        await gates.note()
        await self.store.change_jobs("default", [job], lambda *_: Change(cursor=held), now)

    async def run(self, job, kind=OutcomeKind.SUCCEEDED, **outcome):
        """Request a run and end its first attempt, if somehow; the execution's id."""
        execution = await self.context.operations.executions.trigger(OWNER, job)
        now = self.clock.now()
        await self.store.promote(now, 0, 1000)
        await self.store.beat(WORKER, now)
        self.claims += 1
        request = ClaimRequest(
            worker="w",
            claim_id=f"claim-{self.claims}",
            now=now,
            lead=0,
            limit=99,
            queues=("default",),
            abilities=frozenset({"call:*/x", "http"}),
        )
        claims = await self.store.claim(request)
        if kind is None:
            return execution.id
        ended = Outcome(kind=kind, started_at=now, **outcome)
        await self.store.finish([decide(claim, ended, now) for claim in claims], now)
        return execution.id


class Browser:
    """Keeps cookies, and sends forms as a page of ours would."""

    def __init__(self, app, url):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        self.http = httpx.AsyncClient(transport=transport, base_url=url)
        self.origin = url
        self.token = ""

    async def get(self, path, **options):
        answer = await self.http.get(path, **options)
        if 'name="csrf"' in answer.text:
            self.token = answer.text.split('name="csrf" value="')[1].split('"')[0]
        return answer

    async def post(self, path, headers=None, **fields):
        """A form of the page that was looked at last."""
        sent = {"origin": self.origin, "sec-fetch-site": "same-origin"} | (headers or {})
        return await self.http.post(path, data={"csrf": self.token} | fields, headers=sent)

    async def see(self, path):
        """A page that is there, taken apart."""
        answer = await self.get(path)
        assert answer.status_code == 200, (path, answer.status_code, answer.text[-2000:])
        return Page(answer.text)

    def read(self, answer):
        """A page, whatever it says."""
        assert answer.headers["content-security-policy"] == POLICY
        return Page(answer.text)


class Page(HTMLParser):
    """What is in a page: its text, its links, its forms, and every tag."""

    def __init__(self, text):
        super().__init__()
        self.source = text
        self.text = ""
        self.links, self.forms, self.tags = set(), set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.append((tag, found))
        if tag == "a" and (found.get("href") or "").startswith("/"):
            self.links.add(found["href"])
        if tag == "form" and found.get("method") == "post":
            self.forms.add(found["action"])
        self.forms |= {found[name] for name in ("formaction", "hx-post") if name in found}

    def handle_data(self, data):
        self.text += data
