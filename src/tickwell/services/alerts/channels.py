"""Channels of a project: added and deleted by admins, tried and previewed by operators."""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tickwell.domain import sender
from tickwell.domain.alert import Channel, ChannelKind
from tickwell.domain.alert.channel import Severity
from tickwell.domain.alert.destination import (
    PAGERDUTY_URL,
    Destination,
    destination,
    mail_destination,
)
from tickwell.domain.naming import is_name
from tickwell.errors import InvalidInput, NotFound
from tickwell.ids import Random, new_id
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.alerts.book import CHANNEL, MOST_CHANNELS, begin, read_channels
from tickwell.services.audit.audit import Audit
from tickwell.services.documents import channel_document
from tickwell.services.redaction.masking import masked_url
from tickwell.services.senders.senders import Senders, naming_url


@dataclass(frozen=True, slots=True)
class NewChannel:
    """A channel with the key that its webhooks are signed with, which is shown once."""

    channel: Channel
    #: None: messages of this kind are not signed.
    signing_key: str | None = field(repr=False)


class Channels:
    """Each is served by a job of its own, as callbacks are."""

    def __init__(
        self, store: RecordStore, random: Random, *, senders: Senders, audit: Audit
    ) -> None:
        self._store = store
        self._random = random
        self._senders = senders
        self._audit = audit
        #: By project: between a look for room and what is added, no other request looks.
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @needs(Permission.ADMINISTER)
    async def create(
        self,
        actor: Actor,
        name: str,
        kind: ChannelKind,
        *,
        url: str | None = None,
        key: str | None = None,
        to: Sequence[str] = (),
        severity: Severity | None = None,
        job: str | None = None,
        tags: Sequence[str] = (),
        queues: Sequence[str] = (),
    ) -> NewChannel:
        """Send alerts somewhere: all, or those of a severity, a job, tags or queues."""
        if not is_name(name) or "/" in name:
            hint = "For example on-call"
            reason = "is not a name of 1 to 255 visible characters without a slash"
            raise InvalidInput(reason, field="name", hint=hint)
        _check_given(kind, url=url, key=key, to=to)
        signing_key = None
        if kind is ChannelKind.WEBHOOK:
            key = signing_key = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
        now = self._senders.jobs.clock.now()
        channel = Channel(
            id=new_id(now, self._random),
            name=name,
            kind=kind,
            to="",
            severity=severity,
            tags=tuple(tags),
            queues=tuple(queues),
            created_at=now,
            created_by=actor.name,
        )
        async with self._turns[actor.project]:
            reached = _destination(channel, url, key, to)
            return NewChannel(await self._add(actor, channel, reached, job), signing_key)

    async def _add(
        self, actor: Actor, channel: Channel, reached: Destination, job: str | None
    ) -> Channel:
        project, now, jobs = actor.project, channel.created_at, self._senders.jobs
        known = await read_channels(self._store, project, now)
        if len(known) >= MOST_CHANNELS:
            raise InvalidInput(f"a project has {MOST_CHANNELS} channels at most")
        if channel.name in {each.name for each in known}:
            hint = "Choose another name, or delete that channel first"
            raise InvalidInput(f"{channel.name!r} exists already", field="name", hint=hint)
        found = None if job is None else (await jobs.get(project, job)).job.id
        with naming_url():
            await self._senders.add(
                sender.CHANNEL,
                channel.id,
                project,
                reached.target,
                secret=reached.secret,
                by=actor.name,
                overlap=channel.overlap,
            )
        channel = replace(channel, to=masked_url(reached.shown), job=found)
        record = Record(
            kind=CHANNEL, project=project, key=channel.id, document=channel.to_document()
        )
        await self._store.put_record(record, now)
        await begin(self._store, project, now)
        after = channel_document(channel)
        await self._audit.record(actor, "channel.create", f"channel/{channel.id}", None, after)
        return channel

    @needs(Permission.ADMINISTER)
    async def delete(self, actor: Actor, name: str) -> None:
        """Send it nothing more; what is under way is not sent either."""
        now, project = self._senders.jobs.clock.now(), actor.project
        channel = find_channel(await read_channels(self._store, project, now), name)
        if not await self._store.delete_record(CHANNEL, project, channel.id):
            raise NotFound("channel", name)
        await self._senders.delete(sender.CHANNEL, channel.id, project)
        before = channel_document(channel)
        await self._audit.record(actor, "channel.delete", f"channel/{channel.id}", before, None)


#: What each kind needs, and an example; nothing else may be given, but another URL of PagerDuty.
_NEEDS = {
    ChannelKind.PAGERDUTY: ("key", "Use the integration key of an Events API v2 integration"),
    ChannelKind.EMAIL: ("to", "For example ops@example.com"),
}
_URL = ("url", "For example https://example.com/alerts")


def _check_given(kind: ChannelKind, *, url: str | None, key: str | None, to: Sequence[str]) -> None:
    fields = {"url": url, "key": key, "to": to}
    needed, hint = _NEEDS.get(kind, _URL)
    if not fields[needed]:
        raise InvalidInput("is missing", field=needed, hint=hint)
    for name, value in fields.items():
        is_region = kind is ChannelKind.PAGERDUTY and name == "url"
        if value and name != needed and not is_region:
            raise InvalidInput(f"does not apply to `{kind}`", field=name, hint="Leave it out")


def _destination(
    channel: Channel, url: str | None, key: str | None, to: Sequence[str]
) -> Destination:
    if channel.kind is ChannelKind.EMAIL:
        return mail_destination(to)
    secret = sender.sender_name(sender.CHANNEL, channel.id)
    with naming_url():
        return destination(channel.kind, url or PAGERDUTY_URL, key, secret)


def find_channel(channels: Sequence[Channel], name: str) -> Channel:
    """The channel of this name or id."""
    for each in channels:
        if name in {each.name, each.id}:
            return each
    raise NotFound("channel", name)
