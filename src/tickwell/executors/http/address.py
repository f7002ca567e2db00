"""Which addresses are public.

`ipaddress.is_global` is no guard: it says yes to NAT64 and 6to4 of loopback, and to 224.0.0.1.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NOT_PUBLIC_V4 = [
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        # Public by its number: Azure's wire server, which hands out credentials of the machine.
        "168.63.129.16/32",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
]
_UNICAST_V6 = IPv6Network("2000::/3")
#: Tunnels, which lead to addresses inside them, and what is reserved for documents.
_NOT_PUBLIC_V6 = [
    IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
]


def read_address(text: str) -> Address:
    """An address as it will be judged: IPv4 inside of IPv6 is IPv4."""
    address = ip_address(text)
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def is_public(address: Address) -> bool:
    """Whether anybody on the internet may be there."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_V4)
    return address in _UNICAST_V6 and not any(address in network for network in _NOT_PUBLIC_V6)


def is_in(address: Address, networks: tuple[Network, ...]) -> bool:
    """Whether one of the networks holds the address."""
    return any(address.version == each.version and address in each for each in networks)
