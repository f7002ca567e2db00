"""What people see of alerts, and do about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tickwell.domain.alert import (
    BUILT_IN,
    Alert,
    Channel,
    Condition,
    Notice,
    NoticeType,
    Rule,
    Status,
)
from tickwell.domain.alert.formats import body
from tickwell.domain.alert.rule import REPEAT
from tickwell.domain.policy import HOUR
from tickwell.errors import InvalidInput, NotFound
from tickwell.ids import new_id
from tickwell.ports.records import Record
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.alerts import delivery
from tickwell.services.alerts.book import (
    HISTORY,
    MOST_RULES,
    MOST_SILENCES,
    RULE,
    SILENCE,
    Book,
    Silence,
    begin,
    notice_key,
    read_book,
    read_channels,
)
from tickwell.services.alerts.channels import find_channel
from tickwell.services.documents import alert_rule_document, instant_text, silence_document
from tickwell.services.operations.context import OperationContext
from tickwell.services.time import Moment, instant_of

#: Notices that a list has at most.
_MOST_NOTICES = 1000
#: Milliseconds in which a channel is sent one test message: a channel may be the mail of others.
TRIAL_EVERY = 10_000
_ORDER = (Status.FIRING, Status.SILENCED, Status.PENDING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveAlert:
    """An alert as it is now."""

    rule: Rule
    #: The id of a job; None: the project.
    job: str | None
    status: Status
    alert: Alert


class AlertOperations:
    """Reads alerts; changes rules and silences. One process evaluates the rules of all."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context

    @needs(Permission.READ)
    async def list(self, actor: Actor) -> Sequence[ActiveAlert]:
        """What is not well: what fires first, the oldest of it first."""
        book = await self._book(actor)
        found = [
            ActiveAlert(
                rule=stored.rule,
                job=subject or None,
                status=_status(book, stored.rule, subject, alert),
                alert=alert,
            )
            for stored in book.states.values()
            for subject, alert in stored.state.alerts.items()
        ]
        found.sort(key=lambda each: (_ORDER.index(each.status), each.alert.since, each.alert.name))
        return found

    @needs(Permission.READ)
    async def rules(self, actor: Actor) -> Sequence[Rule]:
        """The rules of the project, those that are built in first."""
        return (await self._book(actor)).rules

    @needs(Permission.READ)
    async def silences(self, actor: Actor) -> Sequence[Silence]:
        """The silences that have not ended, the next to end first."""
        return sorted((await self._book(actor)).silences, key=lambda each: each.until)

    @needs(Permission.READ)
    async def history(self, actor: Actor, limit: int = _MOST_NOTICES) -> Sequence[dict[str, Any]]:
        """The notices of the last 30 days, newest first."""
        now = self.context.clock.now()
        found = await self.context.store.list_records(HISTORY, actor.project, "", now, limit)
        return [each.document for each in found]

    @needs(Permission.EDIT)
    async def create_rule(
        self,
        actor: Actor,
        condition: Condition,
        *,
        job: str | None = None,
        after: int | None = None,
        times: int | None = None,
        by: str | None = None,
        tz: str = "UTC",
        repeat: int = REPEAT,
    ) -> Rule:
        """Watch a job, or all jobs of the project, for a condition."""
        store, now = self.context.store, self.context.clock.now()
        rule = Rule(
            id=new_id(now, self.context.random),
            condition=condition,
            after=after,
            times=times,
            by=by,
            tz=tz,
            repeat=repeat,
            created_at=now,
            created_by=actor.name,
        )
        rule.check()
        if job is not None:
            rule = replace(rule, job=(await self.context.jobs.get(actor.project, job)).job.id)
        known = await store.list_records(RULE, actor.project, "", now, MOST_RULES)
        if len(known) >= MOST_RULES:
            raise InvalidInput(f"a project has {MOST_RULES} alert rules at most")
        record = Record(kind=RULE, project=actor.project, key=rule.id, document=rule.to_document())
        await store.put_record(record, now)
        await begin(store, actor.project, now)
        made = alert_rule_document(rule)
        await self._note(actor, "alert_rule.create", f"alert_rule/{rule.id}", None, made)
        return rule

    @needs(Permission.EDIT)
    async def delete_rule(self, actor: Actor, id: str) -> None:
        """Watch for it no more; what it reported is resolved within seconds."""
        store, now = self.context.store, self.context.clock.now()
        if id in {each.id for each in BUILT_IN}:
            hint = "Silence it instead"
            raise InvalidInput("a built-in rule cannot be deleted", field="id", hint=hint)
        known = await store.get_record(RULE, actor.project, id, now)
        if known is None or not await store.delete_record(RULE, actor.project, id):
            raise NotFound("alert rule", id)
        before = alert_rule_document(Rule.from_document(id, known.document))
        await self._note(actor, "alert_rule.delete", f"alert_rule/{id}", before, None)

    @needs(Permission.OPERATE)
    async def silence(
        self,
        actor: Actor,
        until: Moment,
        *,
        why: str,
        rule: str | None = None,
        job: str | None = None,
    ) -> Silence:
        """Report nothing until an instant: of a rule, of a job, or of the project."""
        store, now = self.context.store, self.context.clock.now()
        end = instant_of(until, now)
        if end <= now:
            raise InvalidInput("must be later than now", field="until")
        book = await self._book(actor)
        if rule is not None and rule not in {each.id for each in book.rules}:
            raise NotFound("alert rule", rule)
        if len(book.silences) >= MOST_SILENCES:
            raise InvalidInput(f"a project has {MOST_SILENCES} silences at most")
        silence = Silence(
            id=new_id(now, self.context.random),
            rule=rule,
            job=None if job is None else (await self.context.jobs.get(actor.project, job)).job.id,
            until=end,
            why=why,
            by=actor.name,
        )
        record = Record(
            kind=SILENCE,
            project=actor.project,
            key=silence.id,
            document=silence.to_document(),
            expires_at=end,
        )
        await store.put_record(record, now)
        after = silence_document(silence)
        await self._note(actor, "alert_silence.create", f"alert_silence/{silence.id}", None, after)
        return silence

    @needs(Permission.OPERATE)
    async def end_silence(self, actor: Actor, id: str) -> None:
        """Report again; what still fires is reported within seconds."""
        store, now = self.context.store, self.context.clock.now()
        known = await store.get_record(SILENCE, actor.project, id, now)
        if known is None or not await store.delete_record(SILENCE, actor.project, id):
            raise NotFound("silence", id)
        before = silence_document(Silence(**known.document | {"id": id}))
        await self._note(actor, "alert_silence.delete", f"alert_silence/{id}", before, None)

    @needs(Permission.READ)
    async def channels(self, actor: Actor) -> Sequence[Channel]:
        """Where the alerts of the project are sent, the oldest channel first."""
        return await read_channels(self.context.store, actor.project, self.context.clock.now())

    @needs(Permission.OPERATE)
    async def test(self, actor: Actor, name: str | None = None) -> Sequence[str]:
        """Send a test message to one channel, or to all; answer the ids of the executions.

        Once in ten seconds; until then the answer has the execution of before.
        """
        now, project, found = self.context.clock.now(), actor.project, []
        moment = now - now % TRIAL_EVERY
        channels = await read_channels(self.context.store, project, now)
        for channel in channels if name is None else [find_channel(channels, name)]:
            content = delivery.trial(project, moment, self.context.public_url)
            key = notice_key("test", moment)
            sent = await delivery.send_to(self.context.executions, project, channel, content, key)
            found += [] if sent is None else [sent]
        await self._note(actor, "alert.test", f"channel/{name or '*'}", None, None)
        return found

    @needs(Permission.READ)
    async def preview(self, actor: Actor, name: str) -> tuple[Channel, dict[str, Any]]:
        """What a channel is sent when a job is missing: its JSON, with an example job."""
        now = self.context.clock.now()
        channel = find_channel(await read_channels(self.context.store, actor.project, now), name)
        rule = Rule(id="example", condition=Condition.MISSING, after=25 * HOUR)
        text = f"{rule.words}; last at {instant_text(now - 25 * HOUR)}"
        alerts = {"example": Alert(name="nightly-report", text=text, since=now, is_firing=True)}
        notice = Notice(number=1, type=NoticeType.FIRING, at=now, alerts=alerts)
        content = delivery.message(
            actor.project, rule, notice, alerts, active=[False], public_url=self.context.public_url
        )
        return channel, body(channel, content)

    async def _book(self, actor: Actor) -> Book:
        return await read_book(self.context.store, actor.project, self.context.clock.now())

    async def _note(self, actor: Actor, action: str, on: str, before: Any, after: Any) -> None:
        await self.context.auditor.record(actor, action, on, before, after)


def _status(book: Book, rule: Rule, subject: str, alert: Alert) -> Status:
    if not alert.is_firing:
        return Status.PENDING
    return Status.SILENCED if book.is_silenced(rule.id, subject, alert) else Status.FIRING
