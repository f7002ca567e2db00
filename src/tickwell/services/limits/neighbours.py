"""Whom an address is counted with."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, ip_address


@lru_cache(maxsize=4096)
def neighbours(address: str) -> str:
    """With IPv6 whoever has one address has all of its network, and would never be counted."""
    try:
        found = ip_address(address)
    except ValueError:  # a socket's, or none
        return address
    if isinstance(found, IPv4Address):
        return address
    return str(found.ipv4_mapped or f"{found.packed[:8].hex(':', 2)}::/64")
