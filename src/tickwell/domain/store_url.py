"""Store URLs, which may name several hosts."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

_PARTS = re.compile(r"(\w[\w+.-]*)://([^/?#]*)(.*)", re.DOTALL)


def split_store_url(url: str) -> SplitResult:
    """`urlsplit` for URLs like `postgresql://a:1,[::1]:2/x`.

    Since Python 3.11.12, 3.12.9 and 3.13.2 `urlsplit` rejects an IPv6 address after another host,
    so each host is checked by itself. Raises ValueError as `urlsplit` does.
    """
    found = _PARTS.fullmatch(url)
    if found is None:
        return urlsplit(url)
    scheme, netloc, rest = found.groups()
    user, _, hosts = netloc.rpartition("@")
    if "[" in user or "]" in user:
        raise ValueError("a bracket in the user or password")
    for host in hosts.split(","):
        urlsplit(f"//{host}")
    return urlsplit(f"{scheme}://{rest}")._replace(netloc=netloc)
