"""What is kept of a channel's URL, and what of it is a secret."""

import pytest

from tickwell.domain.alert import ChannelKind
from tickwell.domain.alert.destination import destination
from tickwell.domain.http import Http, Json
from tickwell.errors import InvalidJob

SLACK, TEAMS = ChannelKind.SLACK, ChannelKind.TEAMS
TOKEN = "XXXXXXXXXXXXXXXXXXXXXXXX"


def reached(kind, url, key):
    """The destination, and its target as a webhook."""
    found = destination(kind, url, key, "channel-1")
    assert isinstance(found.target, Http)
    return found, found.target


@pytest.mark.parametrize(
    ("kind", "url", "shown", "secret"),
    [
        (
            SLACK,
            f"https://hooks.slack.com/services/T00000000/B00000000/{TOKEN}",
            "https://hooks.slack.com/services/T00000000/B00000000/…",
            TOKEN,
        ),
        (
            SLACK,
            f"https://discord.com/api/webhooks/123456789012345678/{TOKEN}/slack",
            "https://discord.com/api/webhooks/123456789012345678/…/slack",
            TOKEN,
        ),
        (
            TEAMS,
            (
                "https://prod-1.logic.azure.com:443/workflows/0a1b2c3d/triggers/manual/paths/invoke"
                "?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0"
                "&sig=a-b_cdefghijklmnopqrstuvwxyz%2B0123456789"
            ),
            (
                "https://prod-1.logic.azure.com:443/workflows/0a1b2c3d/triggers/manual/paths/invoke"
                "?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=…"
            ),
            "a-b_cdefghijklmnopqrstuvwxyz+0123456789",
        ),
        (
            SLACK,
            f"https://chat.example.com?hook={TOKEN}",
            "https://chat.example.com?hook=…",
            TOKEN,
        ),
        (
            SLACK,
            f"https://chat.example.com?{TOKEN}/1",
            "https://chat.example.com?…/1",
            TOKEN,
        ),
        (SLACK, "https://chat.example.com/hook", "https://chat.example.com/hook", None),
        (
            SLACK,
            "https://a-very-long-name.example.com",
            "https://a-very-long-name.example.com",
            None,
        ),
        (
            SLACK,
            "https://chat.example.com/hooks/{{secret.chat}}",
            "https://chat.example.com/hooks/{{secret.chat}}",
            None,
        ),
    ],
)
def test_the_token_of_a_chat_is_kept_as_a_secret(kind, url, shown, secret):
    found, target = reached(kind, url, None)
    assert (found.shown, found.secret) == (shown, secret)
    assert target.url == shown.replace("…", "{{secret.channel-1}}")
    assert TOKEN not in repr(found)


def test_a_webhook_is_signed():
    found, target = reached(ChannelKind.WEBHOOK, "https://example.com/a", "whsec_x")
    assert target.sign_with == ("{{secret.channel-1}}",)
    assert (found.shown, found.secret) == ("https://example.com/a", "whsec_x")


@pytest.mark.parametrize(
    ("key", "sent", "secret"),
    [("R" * 32, "{{secret.channel-1}}", "R" * 32), ("{{secret.pager}}", "{{secret.pager}}", None)],
)
def test_pagerduty_is_routed_by_a_secret(key, sent, secret):
    found, target = reached(ChannelKind.PAGERDUTY, "https://example.com/v2", key)
    assert isinstance(target.body, Json)
    assert target.body.value["routing_key"] == sent
    assert found.secret == secret


@pytest.mark.parametrize("url", ["", "chat.example.com/hook", "ftp://example.com/x", "https://"])
def test_what_is_no_url_is_refused(url):
    with pytest.raises(InvalidJob):
        destination(SLACK, url, None, "channel-1")
