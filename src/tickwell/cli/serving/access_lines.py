"""What a service says when it starts about who may do what: ways in, and what is open."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tickwell.cli.exits import PROGRAM_NAME
from tickwell.domain.trigger.duration import format_duration
from tickwell.scheduler import Scheduler
from tickwell.services.redaction.store_address import without_password
from tickwell.settings import Settings

if TYPE_CHECKING:
    from tickwell.services.admin.admin import Bootstrap

_DEFAULTS = Settings()
_DEFAULT_URL = f"http://{_DEFAULTS.host}:{_DEFAULTS.port}"


def access_lines(scheduler: Scheduler, first: Bootstrap | None, url: str) -> Iterator[str]:
    """Lines for the terminal or the log; credentials are among them on a terminal only."""
    settings = scheduler.settings
    if settings.auth and first is not None:
        yield "First start. These are shown only once:"
        yield f"  log in, within an hour: {url}/login?link={first.link_token}"
        yield f"  API key, admin of the project default{_until(settings)}:"
        yield f"    {first.key}"
    if settings.auth:
        where, options = _way_in(scheduler)
        program = PROGRAM_NAME.get()
        address = "" if url == _DEFAULT_URL else f" --address {url}"
        yield f"To log in, on this machine{where}:"
        yield f"  {program} users link local{options}{address}"
        yield "For an API key:"
        yield f"  {program} keys add NAME --role admin{options}"
    if not settings.auth:
        yield "Authentication is off: every request is accepted"


def webhook_lines(settings: Settings) -> Iterator[str]:
    """What webhooks may reach beyond the rules: the API takes such jobs, a worker sends them."""
    if settings.allow_http or settings.allow_private:
        ways = [*(["plain http"] * settings.allow_http), *settings.allow_private]
        ports = ", ".join(settings.allow_ports)
        yield f"Webhooks may also go to {', '.join(ways)}, ports {ports}"


def warnings(settings: Settings, url: str) -> Iterator[str]:
    """What an operator should not leave as it is."""
    if os.geteuid() == 0:
        yield "WARNING: runs as root; use a dedicated user that can read the store and the key"
    host = urlsplit(url).hostname or ""
    if settings.auth and url.startswith("http://") and not ip_address(host).is_loopback:
        yield (
            "WARNING: plain HTTP on the network: others can read keys and sessions;"
            " set tls_cert and tls_key, or listen on 127.0.0.1 behind a proxy with TLS"
        )


def _way_in(scheduler: Scheduler) -> tuple[str, str]:
    """Where a command finds the store of this service, and with which options."""
    from tickwell.cli.config.configuration import configure

    store, found = scheduler.settings.store, configure()
    if "store" in found.origins and found.settings.store == store:
        # Shown here without its password, the URL would not do; there it is complete.
        return " and with this environment", ""
    return (
        "",
        "" if store == _DEFAULTS.store else f" --store {shlex.quote(without_password(store))}",
    )


def _until(settings: Settings) -> str:
    """How long the first key works."""
    life = settings.first_key_life
    return f", for {format_duration(int(life * 1000))}" if life else ""
