"""The format of each kind of channel: from a message to the JSON that is sent. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tickwell.clock import to_datetime
from tickwell.domain.alert.channel import Channel, ChannelKind
from tickwell.domain.alert.message import Message, MessageType
from tickwell.domain.trigger.moment import to_text

#: Alerts that a chat message names; a signed webhook names all that a message has.
MOST_LINES = 10
#: Characters of a title, and of a summary at PagerDuty.
_TITLE, _SUMMARY = 250, 1024
#: A space without width: Slack has no escape for what other chats read, and would show it.
_BREAK = "\u200b"
#: What a mention begins with, and what stands between the text and the target of a link.
_MENTION_OR_LINK = re.compile(r"(@(?=\w)|\](?=[(\[]))")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#~|])")

Body = dict[str, Any]


def webhook(message: Message) -> Body:
    """In the form of Standard Webhooks."""
    if message.type is MessageType.TEST:
        data: Body = {"project": message.project, "url": message.url}
    else:
        data = {
            "project": message.project,
            "rule": message.rule,
            "condition": message.condition,
            "words": message.words,
            "severity": message.severity,
            "number": message.number,
            "repeated": message.is_repeated,
            "alerts": [
                {
                    "job_id": line.job,
                    "name": line.name,
                    "text": line.text,
                    "since": to_text(to_datetime(line.since)),
                    "url": line.url,
                }
                for line in message.lines
            ],
            "more": message.count - len(message.lines),
            "firing": message.firing,
            "silenced": message.silenced,
            "url": message.url,
        }
    return {
        "type": f"alert.{message.type.value}",
        "timestamp": to_text(to_datetime(message.at)),
        "data": data,
    }


def slack(message: Message) -> Body:
    """One attachment, which Mattermost, Rocket.Chat and Discord read as well."""
    lines, rest = message.first(MOST_LINES)
    texts = [
        f"{f'<{line.url}|{_slack(line.name)}>' if line.url else f'*{_slack(line.name)}*'}:"
        f" {_slack(line.words)}"
        for line in lines
    ]
    title = message.title[:_TITLE]
    attachment = {
        "color": _COLORS[_look(message)],
        "fallback": _plain(title),
        "title": _slack(title),
        "text": "\n".join([*texts, *([rest] if rest else [])]),
        "fields": [
            {"title": name, "value": _slack(value), "short": True}
            for name, value in _facts(message)
        ],
        "footer": "Tickwell",
        "ts": message.at // 1000,
        "mrkdwn_in": ["text"],
    }
    if message.url:
        attachment["title_link"] = message.url
    return {"attachments": [attachment]}


def teams(message: Message) -> Body:
    """An Adaptive Card, as a workflow that posts to a channel expects it."""
    lines, rest = message.first(MOST_LINES)
    texts = [f"**{_markdown(line.name)}**: {_markdown(line.words)}" for line in lines]
    title = {
        "type": "TextBlock",
        "text": _markdown(message.title[:_TITLE]),
        "weight": "Bolder",
        "size": "Medium",
        "color": _STYLES[_look(message)],
        "wrap": True,
    }
    card: Body = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [
            title,
            *({"type": "TextBlock", "text": text, "wrap": True} for text in texts),
            *([{"type": "TextBlock", "text": rest, "isSubtle": True}] if rest else []),
            {
                "type": "FactSet",
                "facts": [{"title": name, "value": value} for name, value in _facts(message)],
            },
        ],
    }
    if message.url:
        card["actions"] = [
            {"type": "Action.OpenUrl", "title": "Open in Tickwell", "url": message.url}
        ]
    return {
        "type": "message",
        "attachments": [
            {
                "contentType": "application/vnd.microsoft.card.adaptive",
                "contentUrl": None,
                "content": card,
            }
        ],
    }


def pagerduty(message: Message) -> Body:
    """One incident per rule, acknowledged and resolved when all of it is silenced, or over.

    A test opens an incident of its own and resolves nothing: the admin sees it arrive. The routing
    key is a secret, which the target adds.
    """
    lines, rest = message.first(MOST_LINES)
    key = f"tickwell/{message.project}/{message.rule}"
    return {
        "event_action": _action(message),
        "dedup_key": f"{key}/{message.at}" if message.type is MessageType.TEST else key,
        "payload": {
            "summary": message.title[:_SUMMARY],
            "source": f"tickwell/{message.project}",
            "severity": message.severity,
            "timestamp": to_text(to_datetime(message.at)),
            "class": message.condition,
            "group": message.project,
            "custom_details": {line.name: line.words for line in lines}
            | ({"more": rest} if rest else {}),
        },
        "links": [{"href": message.url, "text": "Open in Tickwell"}] if message.url else [],
    }


def email(message: Message) -> Body:
    """Plain text; `body` adds the recipients."""
    texts = [f"{line.name}: {line.words}" for line in message.lines]
    links = [f"  {line.url}" if line.url else "" for line in message.lines]
    _, rest = message.first(len(message.lines))
    parts = [message.title, ""]
    parts += [part for pair in zip(texts, links, strict=True) for part in pair if part]
    parts += [rest] if rest else []
    facts = [*_facts(message), *([("Alerts", message.url)] if message.url else [])]
    parts += ["", *(f"{name}: {value}" for name, value in facts)]
    return {"subject": message.title[:_TITLE], "text": "\n".join(parts) + "\n"}


def body(channel: Channel, message: Message) -> Body:
    """What a channel is sent: the payload of the execution that sends it."""
    found = FORMATS[channel.kind](message)
    return {"to": channel.to, **found} if channel.kind is ChannelKind.EMAIL else found


FORMATS: Mapping[ChannelKind, Callable[[Message], Body]] = {
    ChannelKind.WEBHOOK: webhook,
    ChannelKind.SLACK: slack,
    ChannelKind.TEAMS: teams,
    ChannelKind.PAGERDUTY: pagerduty,
    ChannelKind.EMAIL: email,
}
_COLORS = {"critical": "danger", "warning": "warning", "good": "good"}
_STYLES = {"critical": "Attention", "warning": "Warning", "good": "Good"}


def _action(message: Message) -> str:
    if message.is_over:
        return "resolve"
    return "acknowledge" if message.is_acknowledged else "trigger"


def _look(message: Message) -> str:
    is_bad = message.type is MessageType.FIRING or message.firing
    return message.severity if is_bad else "good"


def _facts(message: Message) -> list[tuple[str, str]]:
    found = [("Project", message.project), ("Severity", message.severity)]
    return found[:1] if message.type is MessageType.TEST else found


def _slack(text: str) -> str:
    """Text without links and commands of Slack, and of chats that read Markdown and mentions."""
    shown = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _plain(shown)


def _plain(text: str) -> str:
    return _MENTION_OR_LINK.sub(rf"\1{_BREAK}", text)


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)
