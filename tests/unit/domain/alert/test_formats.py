"""The JSON that each kind of channel is sent."""

import json
from dataclasses import replace

import pytest

from tickwell.domain.alert import Channel, ChannelKind
from tickwell.domain.alert.formats import FORMATS, MOST_LINES, body
from tickwell.domain.alert.message import Line, Message, MessageType

#: 15 November 2026, 09:00:15 UTC.
AT = 1_794_733_215_000
URL = "https://jobs.example.com/alerts"


def line(name="report", text="no success for 1d1h; it never has"):
    return Line(job=name, name=name, text=text, since=AT, url=f"https://jobs.example.com/{name}")


def message(type=MessageType.FIRING, lines=None, **fields):
    lines = [line()] if lines is None else lines
    given = {
        "type": type,
        "at": AT,
        "project": "shop",
        "rule": "r1",
        "condition": "missing",
        "words": "no success for 1d1h",
        "severity": "critical",
        "number": 3,
        "lines": lines,
        "count": len(lines),
        "firing": len(lines) if type is MessageType.FIRING else 0,
        "url": URL,
    }
    return Message(**given | fields)


TEST = message(MessageType.TEST, [], severity="info")


def test_a_webhook_has_every_field():
    assert FORMATS[ChannelKind.WEBHOOK](message()) == {
        "type": "alert.firing",
        "timestamp": "2026-11-15T09:00:15.000Z",
        "data": {
            "project": "shop",
            "rule": "r1",
            "condition": "missing",
            "words": "no success for 1d1h",
            "severity": "critical",
            "number": 3,
            "repeated": False,
            "alerts": [
                {
                    "job_id": "report",
                    "name": "report",
                    "text": "no success for 1d1h; it never has",
                    "since": "2026-11-15T09:00:15.000Z",
                    "url": "https://jobs.example.com/report",
                }
            ],
            "more": 0,
            "firing": 1,
            "silenced": 0,
            "url": URL,
        },
    }


def test_slack_has_one_attachment():
    assert FORMATS[ChannelKind.SLACK](message()) == {
        "attachments": [
            {
                "color": "danger",
                "fallback": "Firing: report: no success for 1d1h",
                "title": "Firing: report: no success for 1d1h",
                "title_link": URL,
                "text": "<https://jobs.example.com/report|report>: no success for 1d1h; it never"
                " has (since 2026-11-15 09:00:15 UTC)",
                "fields": [
                    {"title": "Project", "value": "shop", "short": True},
                    {"title": "Severity", "value": "critical", "short": True},
                ],
                "footer": "Tickwell",
                "ts": AT // 1000,
                "mrkdwn_in": ["text"],
            }
        ]
    }


def test_teams_has_a_card_with_a_button():
    body = FORMATS[ChannelKind.TEAMS](message())
    (attachment,) = body["attachments"]
    card = attachment["content"]
    assert (body["type"], card["type"], card["version"]) == ("message", "AdaptiveCard", "1.4")
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    title, text, facts = card["body"]
    assert (title["text"], title["color"]) == ("Firing: report: no success for 1d1h", "Attention")
    assert text["text"].startswith("**report**: no success for 1d1h; it never has (since 2026-")
    assert {each["title"]: each["value"] for each in facts["facts"]} == {
        "Project": "shop",
        "Severity": "critical",
    }
    assert [each["url"] for each in card["actions"]] == [URL]


def test_pagerduty_has_one_incident_per_rule():
    assert FORMATS[ChannelKind.PAGERDUTY](message()) == {
        "event_action": "trigger",
        "dedup_key": "tickwell/shop/r1",
        "payload": {
            "summary": "Firing: report: no success for 1d1h",
            "source": "tickwell/shop",
            "severity": "critical",
            "timestamp": "2026-11-15T09:00:15.000Z",
            "class": "missing",
            "group": "shop",
            "custom_details": {
                "report": "no success for 1d1h; it never has (since 2026-11-15 09:00:15 UTC)"
            },
        },
        "links": [{"href": URL, "text": "Open in Tickwell"}],
    }


def test_pagerduty_resolves_when_nothing_of_the_rule_fires_any_more():
    send = FORMATS[ChannelKind.PAGERDUTY]
    part = send(message(MessageType.RESOLVED, firing=2))
    whole = send(message(MessageType.RESOLVED))
    assert (part["event_action"], whole["event_action"]) == ("trigger", "resolve")
    assert part["dedup_key"] == whole["dedup_key"] == "tickwell/shop/r1"
    assert part["payload"]["custom_details"]["more"] == "2 still firing"


@pytest.mark.parametrize(
    ("given", "action"),
    [
        (message(MessageType.SILENCED, silenced=1), "acknowledge"),
        (message(MessageType.SILENCED, silenced=1, firing=1), "trigger"),
        (message(MessageType.RESOLVED, silenced=1), "trigger"),
    ],
)
def test_pagerduty_acknowledges_when_all_that_fires_is_silenced(given, action):
    assert FORMATS[ChannelKind.PAGERDUTY](given)["event_action"] == action


def test_pagerduty_opens_an_incident_for_each_test():
    tried = FORMATS[ChannelKind.PAGERDUTY](TEST)
    assert tried["event_action"] == "trigger"
    assert tried["dedup_key"] == f"tickwell/shop/r1/{AT}"
    assert tried["payload"]["severity"] == "info"


def test_mail_names_all_lines_with_their_pages_and_whom_it_is_for():
    channel = Channel(id="c", name="ops", kind=ChannelKind.EMAIL, to="ann@example.com")
    assert body(channel, message(count=3)) == {
        "to": "ann@example.com",
        "subject": "Firing: 3 jobs: no success for 1d1h",
        "text": (
            "Firing: 3 jobs: no success for 1d1h\n"
            "\n"
            "report: no success for 1d1h; it never has (since 2026-11-15 09:00:15 UTC)\n"
            "  https://jobs.example.com/report\n"
            "and 2 more\n"
            "\n"
            "Project: shop\n"
            "Severity: critical\n"
            "Alerts: https://jobs.example.com/alerts\n"
        ),
    }


@pytest.mark.parametrize(
    ("given", "title"),
    [
        (message(), "Firing: report: no success for 1d1h"),
        (message(is_repeated=True), "Still firing: report: no success for 1d1h"),
        (message(MessageType.RESOLVED), "Resolved: report: no success for 1d1h"),
        (message(MessageType.SILENCED), "Silenced: report: no success for 1d1h"),
        (message(lines=[line("a"), line("b")]), "Firing: 2 jobs: no success for 1d1h"),
        (TEST, "Test: alerts of the project shop arrive here"),
    ],
)
def test_the_title_says_what_happened(given, title):
    assert given.title == title


@pytest.mark.parametrize("kind", ChannelKind)
@pytest.mark.parametrize(
    "given",
    [
        TEST,
        message(MessageType.RESOLVED, firing=1),
        message(url=None, lines=[Line(job=None, name="shop", text="x", since=AT, url=None)]),
        message(lines=[line("n" * 255, "t" * 500)] * 50, count=200),
    ],
    ids=["test", "resolved", "without links", "long"],
)
def test_every_format_takes_every_message(kind, given):
    body = FORMATS[kind](given)
    assert len(json.dumps(body)) < 256 * 1024
    assert "None" not in json.dumps(body)


@pytest.mark.parametrize("kind", [ChannelKind.SLACK, ChannelKind.TEAMS, ChannelKind.PAGERDUTY])
def test_a_burst_names_the_first_and_counts_the_rest(kind):
    lines = [line(f"job-{number:02}") for number in range(50)]
    text = json.dumps(FORMATS[kind](message(lines=lines, count=120)))
    assert f"job-{MOST_LINES - 1:02}" in text
    assert f"job-{MOST_LINES:02}" not in text
    assert "and 110 more" in text


@pytest.mark.parametrize(
    ("kind", "escaped"),
    [
        (ChannelKind.SLACK, "&lt;!channel&gt; &amp; *x*"),
        (ChannelKind.TEAMS, r"\<!channel\> & \*x\*"),
    ],
)
def test_what_a_job_says_is_text_and_no_markup(kind, escaped):
    body = FORMATS[kind](message(lines=[line("x", "<!channel> & *x*")]))
    assert escaped in json.dumps(body).replace("\\\\", "\\")


@pytest.mark.parametrize("said", ["@all", "@channel", "@here", "@everyone"])
def test_a_job_notifies_no_one_in_chats_that_read_what_slack_is_sent(said):
    body = FORMATS[ChannelKind.SLACK](message(lines=[replace(line(), name=said, text=said)]))
    assert said not in json.dumps(body, ensure_ascii=False)


def test_a_job_is_no_link_in_chats_that_read_markdown():
    said = "[log in](https://evil.example.com)"
    body = FORMATS[ChannelKind.SLACK](message(lines=[replace(line(), name=said, text=said)]))
    assert "](" not in json.dumps(body)


@pytest.mark.parametrize(
    ("given", "color"),
    [
        (message(), "danger"),
        (message(severity="warning"), "warning"),
        (message(MessageType.RESOLVED), "good"),
        (message(MessageType.RESOLVED, firing=1), "danger"),
        (TEST, "good"),
    ],
)
def test_the_color_says_whether_it_still_fires(given, color):
    assert FORMATS[ChannelKind.SLACK](given)["attachments"][0]["color"] == color
