"""Taking apart the URL of a server, whose password may hold anything and is never quoted."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import SplitResult

from tickwell.domain.store_url import split_store_url
from tickwell.errors import InvalidSetting

PORTS = range(1, 65536)
UNESCAPED = (
    "the URL cannot be taken apart: what is special in a user, a password or an option is "
    "written %40 for @, %2F for /, %3F for ?, %23 for #, %5B for [, %5D for ]"
)


def split(
    url: str, invalid: Callable[[str], InvalidSetting], *, several: bool = False
) -> SplitResult:
    """Its parts, unless a password cuts it short: then parts of that would be taken for others."""
    try:
        parts = split_store_url(url)
    except ValueError:  # a bracket, which begins an address of IPv6
        raise invalid(UNESCAPED) from None
    if "@" in f"{parts.path}{parts.query}{parts.fragment}":
        raise invalid(UNESCAPED)
    hosts = parts.netloc.rpartition("@")[2]
    for host in hosts.split(",") if several else [hosts]:
        port = host.rpartition("]")[2].partition(":")[2]
        if port and not (port.isascii() and port.isdecimal() and int(port) in PORTS):
            raise invalid("the port is no number from 1 to 65535")
    return parts
