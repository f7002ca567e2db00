"""Operations on alerts, their rules and their silences."""

from __future__ import annotations

from tickwell.domain.alert import ChannelKind, Condition
from tickwell.domain.alert.rule import REPEAT
from tickwell.services.access.actor import Permission
from tickwell.services.documents import (
    alert_document,
    alert_rule_document,
    channel_document,
    notice_document,
    silence_document,
)
from tickwell.services.operations.declaration import Call, Document, Group
from tickwell.services.operations.records import admin
from tickwell.services.operations.records import alerts as records

GROUP = Group("alerts")
_DONE = {"done": True}


@GROUP.get("/alerts", Permission.READ, records.Alerts)
async def list_alerts(call: Call) -> Document:
    """List alerts: firing ones first, then silenced and pending ones."""
    return {"items": [alert_document(each) for each in await call.use.alerts.list(call.actor)]}


@GROUP.get("/alerts/history", Permission.READ, records.AlertNotices)
async def list_alert_notices(call: Call, query: records.NoticeQuery) -> Document:
    """List the alert notices of the last 30 days, newest first."""
    found = await call.use.alerts.history(call.actor, query.limit)
    return {"items": [notice_document(each) for each in found]}


@GROUP.post(
    "/alerts/test", Permission.OPERATE, records.AlertsTested, audit="alert.test", status=202
)
async def send_test_alert(call: Call) -> Document:
    """Send a test message to every channel."""
    return {"executions": [*await call.use.alerts.test(call.actor)]}


@GROUP.get("/alerts/channels", Permission.READ, records.Channels)
async def list_channels(call: Call) -> Document:
    """List the channels that alerts are sent to, without their secrets."""
    return {
        "items": [channel_document(each) for each in await call.use.alerts.channels(call.actor)]
    }


@GROUP.post(
    "/alerts/channels",
    Permission.ADMINISTER,
    records.NewChannel,
    status=201,
    audit="channel.create",
    example={"name": "on-call", "kind": "webhook", "url": "https://example.com/alerts"},
    one_time=True,
    administers=True,
)
async def create_channel(call: Call, body: records.ChannelToMake) -> Document:
    """Add a channel: a webhook, a chat, PagerDuty or e-mail; a signing key is shown once, here."""
    made = await call.admin.channels.create(
        call.actor,
        body.name,
        ChannelKind(body.kind),
        url=body.url,
        key=body.key,
        to=body.to,
        severity=body.severity,
        job=body.job or None,
        tags=body.tags,
        queues=body.queues,
    )
    return channel_document(made.channel) | {"signing_key": made.signing_key}


@GROUP.delete(
    "/alerts/channels/{name}",
    Permission.ADMINISTER,
    admin.Done,
    audit="channel.delete",
    administers=True,
)
async def delete_channel(call: Call, name: str) -> Document:
    """Delete a channel; its pending messages are dropped."""
    await call.admin.channels.delete(call.actor, name)
    return _DONE


@GROUP.get("/alerts/channels/{name}/preview", Permission.READ, records.ChannelPreview)
async def preview_channel(call: Call, name: str) -> Document:
    """Preview the message that a channel would get for an example alert."""
    channel, message = await call.use.alerts.preview(call.actor, name)
    return {"kind": channel.kind.value, "to": channel.to, "message": message}


@GROUP.post(
    "/alerts/channels/{name}/test",
    Permission.OPERATE,
    records.AlertsTested,
    audit="alert.test",
    status=202,
)
async def send_channel_test(call: Call, name: str) -> Document:
    """Send a test message to one channel."""
    return {"executions": [*await call.use.alerts.test(call.actor, name)]}


@GROUP.get("/alerts/rules", Permission.READ, records.AlertRules)
async def list_alert_rules(call: Call) -> Document:
    """List alert rules: the built-in ones, and those of the project."""
    found = await call.use.alerts.rules(call.actor)
    return {"items": [alert_rule_document(each) for each in found]}


@GROUP.post(
    "/alerts/rules",
    Permission.EDIT,
    records.AlertRule,
    status=201,
    audit="alert_rule.create",
    example={"condition": "missing", "after": "25h"},
)
async def create_alert_rule(call: Call, body: records.AlertRuleToMake) -> Document:
    """Add an alert rule for one job, or for all jobs of the project."""
    rule = await call.use.alerts.create_rule(
        call.actor,
        Condition(body.condition),
        job=body.job or None,
        after=body.after,
        times=body.times,
        by=body.by,
        tz=body.tz,
        repeat=REPEAT if body.repeat is None else body.repeat,
    )
    return alert_rule_document(rule)


@GROUP.delete("/alerts/rules/{id}", Permission.EDIT, admin.Done, audit="alert_rule.delete")
async def delete_alert_rule(call: Call, id: str) -> Document:
    """Delete an alert rule, and resolve its alerts."""
    await call.use.alerts.delete_rule(call.actor, id)
    return _DONE


@GROUP.get("/alerts/silences", Permission.READ, records.Silences)
async def list_silences(call: Call) -> Document:
    """List the silences that have not ended."""
    found = await call.use.alerts.silences(call.actor)
    return {"items": [silence_document(each) for each in found]}


@GROUP.post(
    "/alerts/silences",
    Permission.OPERATE,
    records.Silence,
    status=201,
    audit="alert_silence.create",
    example={"until": "2100-01-01T00:00:00Z", "why": "moving the database"},
)
async def create_silence(call: Call, body: records.SilenceToMake) -> Document:
    """Silence the alerts of a rule, a job or the whole project until an instant."""
    silence = await call.use.alerts.silence(
        call.actor, body.until, why=body.why, rule=body.rule or None, job=body.job or None
    )
    return silence_document(silence)


@GROUP.delete(
    "/alerts/silences/{id}",
    Permission.OPERATE,
    admin.Done,
    audit="alert_silence.delete",
)
async def delete_silence(call: Call, id: str) -> Document:
    """End a silence; alerts that still fire are reported."""
    await call.use.alerts.end_silence(call.actor, id)
    return _DONE
