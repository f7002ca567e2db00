"""Addresses that are Tickwell's own: its listener and its store, which no webhook may reach."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlsplit

from tickwell.executors.http.address import Address, read_address
from tickwell.executors.http.resolver import Resolver
from tickwell.settings import Settings

_STORE_PORTS = {"postgresql": 5432, "postgres": 5432, "mysql": 3306, "mongodb": 27017}
_STORE_PORTS |= {"redis": 6379, "rediss": 6379, "mariadb": 3306}


@dataclass(frozen=True, slots=True)
class Place:
    """A host, by name or address, and a port."""

    host: str
    port: int


def own_places(settings: Settings) -> tuple[Place, ...]:
    """The listener, and where the store and what wakes us are if they are on a network."""
    stores = (settings.store, settings.notify or "")
    return (
        Place(settings.host, settings.port),
        *(place for url in stores for place in _store_places(url)),
    )


def _store_places(url: str) -> Iterable[Place]:
    scheme = url.partition("://")[0].partition("+")[0]
    if scheme not in _STORE_PORTS:
        return
    # Several hosts are named with commas, which urlsplit takes for one.
    parts = urlsplit(url)
    named = parts.netloc.rpartition("@")[2].split(",")
    for part in named if any(named) else _in_query(parts.query):
        one = urlsplit(f"//{part}")
        try:
            port = one.port
        except ValueError:
            port = None
        yield Place(one.hostname or "localhost", port or _STORE_PORTS[scheme])


def _in_query(query: str) -> Iterable[str]:
    """Hosts with their ports as PostgreSQL takes them behind the path; a folder is no host."""
    given = dict(parse_qsl(query))
    hosts = given.get("host", "").split(",")
    ports = given.get("port", "").split(",")
    ports = ports * len(hosts) if len(ports) == 1 else ports
    for host, port in zip(hosts, ports, strict=False):
        if not host.startswith(("/", "@")):
            yield f"{host}:{port}"


class Own:
    """Knows its own addresses; names are looked up until they are found."""

    def __init__(self, places: Iterable[Place] = ()) -> None:
        self._missing = tuple(places)
        self._ports = {place.port for place in self._missing}
        self._known: set[tuple[Address, int]] = set()
        self._everywhere: set[int] = set()

    async def look_up(self, resolver: Resolver) -> None:
        """Find the addresses of names; one that is not found now may be so later."""
        if not self._missing:
            return
        missing = []
        for place in self._missing:
            try:
                addresses = [str(ip_address(place.host))]
            except ValueError:
                try:
                    addresses = list(await resolver.resolve(place.host))
                except OSError:
                    missing.append(place)
                    continue
            for address in map(read_address, addresses):
                if address.is_unspecified or address.is_loopback:
                    self._everywhere.add(place.port)
                self._known.add((address, place.port))
        self._missing = tuple(missing)

    def has(self, address: Address, port: int) -> bool:
        """Whether this is one of our own, under whatever address of this machine."""
        if port not in self._ports:
            return False
        if (address, port) in self._known:
            return True
        return port in self._everywhere and _is_local(address)


def _is_local(address: Address) -> bool:
    """Whether the address is this machine's: only such a one can be bound."""
    if address.is_loopback or address.is_unspecified:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False
    return True
