"""Addresses that are Tickwell's own: its listener and its store, which no webhook may reach."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qsl, unquote, urlsplit

from tickwell.domain.store_url import split_store_url
from tickwell.executors.http.address import Address, read_address
from tickwell.executors.http.resolver import Resolver
from tickwell.settings import Settings

#: Here the driver asks the environment for what the URL does not say.
_POSTGRES = {"postgresql": 5432, "postgres": 5432}
_STORE_PORTS = _POSTGRES | {"mysql": 3306, "mariadb": 3306, "mongodb": 27017}
_STORE_PORTS |= {"redis": 6379, "rediss": 6379}


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
    scheme = url.partition("://")[0]
    if scheme not in _STORE_PORTS:  # as mongodb+srv, which names a domain and no host
        return
    parts = split_store_url(url)
    hosts, ports = parts.netloc.rpartition("@")[2], ""
    if scheme in _POSTGRES:
        given = dict(parse_qsl(parts.query))
        hosts = hosts or given.get("host") or os.environ.get("PGHOST", "")
        ports = given.get("port") or os.environ.get("PGPORT", "")
    names, behind = hosts.split(","), ports.split(",")
    behind = behind if len(behind) == len(names) else behind[:1] * len(names)
    for name, port in zip(names, behind, strict=True):
        usual = int(port) if port.isdecimal() else _STORE_PORTS[scheme]
        yield _place(name, usual)


def _place(name: str, usual: int) -> Place:
    one = urlsplit(f"//{name}")
    host = unquote(one.hostname or "")
    if not host or host.startswith("/") or name.startswith("@"):
        host = "localhost"  # a socket's server is on this machine, and hears that port as well
    try:
        port = one.port
    except ValueError:
        port = None
    return Place(host, port or usual)


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
