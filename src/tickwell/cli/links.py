"""What `tickwell doctor` says of the links to the store and to the Redis beside it."""

from __future__ import annotations

from tickwell.services.checkup import Finding, Level
from tickwell.settings import Settings
from tickwell.wiring import weak_links

_REMEDY = "Set TLS up there and leave the option out of the URL, or use rediss://"


def link_findings(settings: Settings) -> list[Finding]:
    """What others on the network could read or forge."""
    return [
        Finding("link", Level.WARNING, f"the link to {setting} {words}", _REMEDY)
        for setting, words in weak_links(settings.store, settings.notify)
    ]
