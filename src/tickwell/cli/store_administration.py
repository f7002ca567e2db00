"""What is administered on a store itself, past its service; written down all the same."""

from __future__ import annotations

from tickwell.services.administration import Administration
from tickwell.services.assembly import make_administration
from tickwell.services.keyring.proof import find_keys, require_keys
from tickwell.services.operations.tools import Tools
from tickwell.settings import Settings


async def administer(tools: Tools, settings: Settings) -> Administration:
    """All that is administered, over an opened store, with the keys of its service."""
    now = tools.clock.now()
    keyring = await find_keys(tools.store, settings, now)
    await require_keys(tools.store, keyring, now)
    return make_administration(
        tools.store,
        tools.clock,
        tools.random,
        jobs=tools.jobs,
        settings=settings,
        keyring=keyring,
    )


def address(settings: Settings) -> str:
    """Where the service on this machine listens, if it is configured as this command is."""
    scheme = "https" if settings.tls_cert else "http"
    host = "localhost" if settings.host in {"0.0.0.0", "::"} else settings.host  # noqa: S104
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{settings.port}"
