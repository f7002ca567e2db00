"""URLs: parsed once, here; what is dialled is made of these parts and of nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import quote

from tickwell.domain.http.template import split
from tickwell.errors import InvalidJob

LONGEST = 2048
DEFAULT_PORTS = {"http": 80, "https": 443}

_SHAPE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(//)?([^/?#]*)([^?#]*)(?:\?([^#]*))?(#.*)?")
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
#: As browsers see it: a host whose last label is a number is an IPv4 address, in some notation.
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")
#: Letters that old and new IDNA read differently: two readers, two hosts.
_AMBIGUOUS = re.compile("[ßẞς\u200c\u200d]")
_HALF_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PATH_SAFE = "/%:@!$&'()*+,;=~-._"
_QUERY_SAFE = _PATH_SAFE + "?"


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL. Path and query may hold places of a template; the rest never does."""

    scheme: str
    #: ASCII, lower case; an IPv6 address without its brackets.
    host: str
    port: int
    #: Set when the host is an address and not a name.
    address: IPv4Address | IPv6Address | None
    #: Percent-encoded but for its places.
    path: str
    query: str

    @property
    def authority(self) -> str:
        """Host and port as the Host header has them."""
        host = f"[{self.host}]" if isinstance(self.address, IPv6Address) else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


Refuse = Callable[[str, str], InvalidJob]


@lru_cache(maxsize=4096)
def parse_url(text: str, field: str = "target.http.url") -> Url:
    """The parts, or `InvalidJob` with the reason. Whether it may be dialled is the guard's."""

    def refuse(reason: str, hint: str = "") -> InvalidJob:
        return InvalidJob(reason, field=field, hint=hint)

    if len(text) > LONGEST:
        raise refuse(f"{len(text)} characters are more than {LONGEST}", "Send data in the body")
    literal = "{{}}".join(split(text)[::2])
    if not literal.isprintable() or "\\" in literal or " " in literal:
        raise refuse("has a space, a backslash or a control character in it", "Write %20, %5C")
    match = _SHAPE.fullmatch(text)
    if match is None or not match[2] or not match[3]:
        raise refuse(f"{text[:100]!r} is not a URL", "For example https://example.com/hook")
    scheme, authority = match[1].lower(), match[3]
    if scheme not in DEFAULT_PORTS:
        raise refuse(f"{scheme!r} is neither https nor http", "Use https://")
    if match[6] is not None:
        raise refuse("has a fragment, which is never sent", "Leave out # and what follows")
    if "{{" in authority or "}}" in authority:
        raise refuse("a template stands in the host or port", "Use it in the path or the query")
    if "@" in authority:
        raise refuse("has a user or password in it", "Use auth, for example Basic(user, password)")
    host, address, port = _host_and_port(authority, scheme, refuse)
    return Url(
        scheme=scheme,
        host=host,
        port=port,
        address=address,
        path=_encoded(match[4] or "/", _PATH_SAFE),
        query=_encoded(match[5] or "", _QUERY_SAFE),
    )


def _host_and_port(
    authority: str, scheme: str, refuse: Refuse
) -> tuple[str, IPv4Address | IPv6Address | None, int]:
    if authority.startswith("["):
        host, bracket, port = authority[1:].partition("]")
        if not bracket or (port and not port.startswith(":")):
            raise refuse(
                "an IPv6 address stands in brackets", "For example https://[2606:4700::1]/"
            )
        colon, port = port[:1], port[1:]
        address: IPv4Address | IPv6Address | None = _ipv6(host, refuse)
        host = str(address)
    else:
        host, colon, port = authority.partition(":")
        host, address = _name_or_ipv4(host, refuse)
    if not colon:
        return host, address, DEFAULT_PORTS[scheme]
    if not re.fullmatch(r"[0-9]{1,5}", port) or not 1 <= int(port) <= 65535:
        raise refuse(f"{port[:20]!r} is not a port", "Use a number from 1 to 65535")
    return host, address, int(port)


def _ipv6(host: str, refuse: Refuse) -> IPv6Address:
    if "%" in host:
        raise refuse("an address with a zone is local to one machine", "Leave out % and the zone")
    try:
        return IPv6Address(host)
    except AddressValueError:
        raise refuse(f"{host[:50]!r} is not an IPv6 address", "Leave out the brackets") from None


def _name_or_ipv4(host: str, refuse: Refuse) -> tuple[str, IPv4Address | None]:
    ascii_host = host.lower() if host.isascii() else _to_ascii(host, refuse)
    if _NUMBER.fullmatch(ascii_host.rstrip(".").rpartition(".")[2]):
        # Resolvers read 2130706433, 0x7f.1 and 127。0。0。1 as addresses; people do not.
        try:
            address = IPv4Address(ascii_host)
        except AddressValueError:
            address = None
        if address is None or str(address) != host:
            raise refuse(f"{host[:50]!r} is an obfuscated address", "Write it as four numbers")
        return host, address
    if len(ascii_host) > 253 or not _NAME.fullmatch(ascii_host):
        raise refuse(f"{host[:50]!r} is not a host name", "For example example.com")
    return ascii_host, None


def _to_ascii(host: str, refuse: Refuse) -> str:
    hint = "Write its ASCII form, xn--…"
    if _AMBIGUOUS.search(host):
        raise refuse(f"{host[:50]!r} is read as two different hosts by different programs", hint)
    try:
        return host.encode("idna").decode().lower()
    except UnicodeError:
        raise refuse(f"{host[:50]!r} is not an international host name", hint) from None


def _encoded(text: str, safe: str) -> str:
    """Percent-encode what a URL cannot hold; places of a template stay as they are."""
    parts = split(text)
    literal = [_HALF_ESCAPE.sub("%25", quote(part, safe=safe)) for part in parts[::2]]
    placeholders = [f"{{{{{name.strip()}}}}}" for name in parts[1::2]] + [""]
    return "".join(part for pair in zip(literal, placeholders, strict=True) for part in pair)
