"""A record of every kind, made when it is asked for: requests take them away."""

from itertools import pairwise
from secrets import token_hex

from tickwell.domain.execution import OutcomeKind
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.policy import HOUR
from tickwell.domain.step import WAIT, Step
from tickwell.domain.worker import Worker
from tickwell.ports.records import ClaimRequest
from tickwell.services.executions.answers import answer_token

PROJECT = "default"
WORKER = Worker(
    id="w", host="h", pid=1, queues=("default",), abilities=("call:*/x",), capacity=99, started_at=0
)
JOB = {
    "trigger": {"cron": "0 * * * *"},
    "target": {"call": {"handler": "x"}},
    "retry": {"max_attempts": 1},
}


class Seeds:
    """Makes what a path can point at, when it is pointed at."""

    def __init__(self, serving):
        self.serving, self.http = serving, serving.http
        self.number = 0
        #: Unlike those of another run, whose answers a fuzzer remembers.
        self.prefix = f"report-{token_hex(4)}"

    def values(self, operation_id, path):
        """The path's parameters: each is the id of the noun before it."""
        self.number += 1
        parts = path.split("/")
        return {
            part.strip("{}"): getattr(self, f"_{noun}")(operation_id)
            for noun, part in pairwise(parts)
            if part.startswith("{")
        }

    def _jobs(self, operation_id):
        job = self._send("POST", "/jobs", JOB | {"name": f"{self.prefix}-{self.number}"})
        if operation_id == "resume_job":
            self._send("POST", f"/jobs/{job['id']}/pause")
        if operation_id == "unskip_occurrence":
            self._send("POST", f"/jobs/{job['id']}/skip", {"at": "2036-01-01T09:00:00Z"})
        return job["name"]

    def _executions(self, operation_id):
        job = self._jobs(operation_id)
        if operation_id == "cancel_execution":
            return self._send("POST", f"/jobs/{job}/trigger", {"in": "1h"})["id"]
        one = self._send("POST", f"/jobs/{job}/trigger")["id"]
        asks = operation_id in {"answer_execution", "answer_by_link"}
        self.serving.call(self._ask() if asks else self._kill())
        return one

    def _answers(self, operation_id):
        cursors = self.serving.app.state.context.cursors
        return answer_token(cursors, PROJECT, self._executions(operation_id), "approval")

    def _revivals(self, _):
        return self._send("POST", "/dead-letters/revive", {"filter": {"queue": "none"}})["id"]

    def _queues(self, operation_id):
        if operation_id == "resume_queue":
            self._send("POST", f"/queues/queue-{self.number}/pause")
        return f"queue-{self.number}"

    def _workers(self, _):
        self.serving.call(self.serving.store.beat(WORKER, self.serving.clock.now()))
        return WORKER.id

    def _maintenance(self, operation_id):
        name, of = f"window-{self.number}", "/platform" if "platform" in operation_id else ""
        if not operation_id.startswith("put"):
            self._send("PUT", f"{of}/maintenance/{name}", {"length": "2h"})
        return name

    def _keys(self, _):
        return self._send("POST", "/keys", {"name": "k", "role": "viewer"})["id"]

    def _members(self, _):
        name = f"member-{self.number}"
        self._send("PUT", f"/members/{name}", {"role": "viewer"})
        return name

    def _users(self, _):
        return self._send("POST", "/users", {"name": f"user-{self.number}"})["name"]

    _admins = _users

    def _projects(self, _):
        made = {"name": f"project-{self.number}", "admin": "root"}
        return self._send("POST", "/projects", made)["name"]

    def _secrets(self, _):
        self._send("PUT", f"/secrets/secret-{self.number}", {"value": "a long random value"})
        return f"secret-{self.number}"

    def _calendars(self, _):
        self._send("PUT", f"/calendars/calendar-{self.number}", {"dates": ["2026-12-24"]})
        return f"calendar-{self.number}"

    def _callbacks(self, _):
        for each in self._send("GET", "/callbacks")["items"]:
            self._send("DELETE", f"/callbacks/{each['id']}")
        made = {"url": "https://example.com/told", "events": ["dead"]}
        return self._send("POST", "/callbacks", made)["id"]

    def _channels(self, _):
        for each in self._send("GET", "/alerts/channels")["items"]:
            self._send("DELETE", f"/alerts/channels/{each['id']}")
        made = {"name": "ops", "kind": "webhook", "url": "https://example.com/told"}
        return self._send("POST", "/alerts/channels", made)["id"]

    def _rules(self, _):
        for each in self._send("GET", "/alerts/rules")["items"]:
            if not each["built_in"]:
                self._send("DELETE", f"/alerts/rules/{each['id']}")
        return self._send("POST", "/alerts/rules", {"condition": "failing", "times": 3})["id"]

    def _monitors(self, _):
        made = {"name": f"{self.prefix}-monitor-{self.number}", "every": "1d"}
        return self._send("POST", "/monitors", made)["name"]

    def _silences(self, _):
        for each in self._send("GET", "/alerts/silences")["items"]:
            self._send("DELETE", f"/alerts/silences/{each['id']}")
        made = {"until": "2100-01-01T00:00:00Z", "why": "moving"}
        return self._send("POST", "/alerts/silences", made)["id"]

    def _send(self, method, path, body=None):
        answer = self.http.request(method, path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    async def _kill(self):
        """What is due dies."""
        store, now = self.serving.store, self.serving.clock.now()
        ended = Outcome(kind=OutcomeKind.FAILED, started_at=now, error="no")
        await store.finish([decide(claim, ended, now) for claim in await self._claim(now)], now)

    async def _ask(self):
        """What is due waits for an approval."""
        store, now = self.serving.store, self.serving.clock.now()
        name, asked = f"{WAIT}approval", {"expires_at": now + HOUR}
        ended = Outcome(kind=OutcomeKind.SNOOZED, started_at=now, delay=HOUR, awaits=(name,))
        claims = await self._claim(now)
        for claim in claims:
            step = Step(
                execution=claim.id, attempt=1, name=name, value=asked, at=now, is_final=False
            )
            await store.write_steps([step])
        await store.finish([decide(claim, ended, now) for claim in claims], now)

    async def _claim(self, now):
        store = self.serving.store
        await store.promote(now, 0, 1000)
        await store.beat(WORKER, now)
        request = ClaimRequest(
            worker="w",
            claim_id=f"claim-{self.number}",
            now=now,
            lead=0,
            limit=99,
            queues=("default",),
            abilities=frozenset({"call:*/x"}),
        )
        return await store.claim(request)
