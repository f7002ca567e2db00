"""Whether a request names this machine. The health page uses it without any framework."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit


@lru_cache(maxsize=256)
def is_own_name(host: str, bound: str) -> bool:
    """Whether a `Host` names this machine, or what it listens on."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name in {"localhost", bound.lower()} or ip_address(name).is_loopback
    except ValueError:
        return False
