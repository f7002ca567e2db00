"""The hosts that a secret may be sent to; an admin sets them, without any it may go anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tickwell.domain.http import Http
from tickwell.domain.http.target import secret_hosts
from tickwell.domain.http.url import parse_url
from tickwell.domain.job import Job
from tickwell.errors import InvalidInput, InvalidJob
from tickwell.ports.store import RecordStore
from tickwell.services.secrets.secret import KIND

#: Hosts of one secret.
MOST = 50
#: Before a domain: every host below it.
_BELOW = "*."


def read_hosts(hosts: Sequence[str]) -> list[str]:
    """An allow-list as it is stored: names in lower case, as URLs are compared with it."""
    if len(hosts) > MOST:
        raise InvalidInput(f"a secret has {MOST} hosts at most", field="hosts")
    return sorted({_read(host.strip()) for host in hosts})


def _read(host: str) -> str:
    below = _BELOW if host.startswith(_BELOW) else ""
    name = host.removeprefix(_BELOW)
    bracketed = f"[{name}]" if ":" in name and not name.startswith("[") else name
    try:
        url = parse_url(f"https://{bracketed}/", "hosts")
    except InvalidInput:
        url = None
    if url is None or url.path != "/" or url.port != 443 or (below and url.address is not None):
        raise InvalidInput(
            f"{host[:100]!r} is not a host",
            field="hosts",
            hint="Use names without scheme, port and path: api.example.com, *.example.com",
        )
    return below + url.host


def allows(hosts: Sequence[str], host: str) -> bool:
    """Whether a secret with this allow-list may be sent to the host."""
    return not hosts or any(
        host.endswith(each[1:]) if each.startswith(_BELOW) else host == each for each in hosts
    )


def refusal(name: str, host: str) -> str:
    """What is wrong, for the one who saves or sends it."""
    return f"secret {name!r} may not be sent to {host}, which is not in its list of allowed hosts"


async def require_allowed_hosts(
    store: RecordStore, project: str, jobs: Iterable[Job], now: int
) -> None:
    """Refuse at save a webhook whose secrets would be refused at every attempt."""
    # Those of one request may share one target.
    targets = {id(job.target): job.target for job in jobs}.values()
    for target in targets:
        needed = secret_hosts(target) if isinstance(target, Http) else {}
        for name, hosts in needed.items():
            record = await store.get_record(KIND, project, name, now)
            allowed = [] if record is None else record.document.get("hosts", [])
            for host in sorted(hosts):
                if not allows(allowed, host):
                    raise InvalidJob(
                        refusal(name, host),
                        field="target.http.url",
                        hint="Use another secret, or ask an admin to add the host",
                    )
