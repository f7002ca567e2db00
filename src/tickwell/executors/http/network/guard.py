"""The guard against request forgery: where a webhook may go, judged at save and at every dial."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import parse_qsl, unquote, urlsplit

from tickwell.domain.http import Http, OAuth
from tickwell.domain.http.url import Url, parse_url
from tickwell.domain.store_url import split_store_url
from tickwell.domain.target import Target, is_allowed, rule_for
from tickwell.errors import InvalidJob
from tickwell.executors.http.network.resolver import Resolver
from tickwell.settings import Settings

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


#: Seconds for a name; they count into the deadline of the attempt as well.
LOOKUP_LIMIT = 5.0

#: The resolver's numbers for names that do not exist.
_UNKNOWN = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}

#: Ends of names that no public resolver knows.
_INTERNAL = (".localhost", ".local", ".internal", ".intranet", ".lan", ".home.arpa", ".corp")


class Refused(OSError):
    """Why something is not dialled. An `OSError`, so that the client ends the dial in order."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(f"{reason}. {hint}" if hint else reason)
        self.reason = reason
        self.hint = hint


class NoAddress(OSError):
    """A name without an address, or without one that may be called.

    The words are the same for both: an attempt that told them apart would let a project list the
    names of an internal network.
    """

    def __init__(self) -> None:
        super().__init__(
            "it has no address that may be called; check the name, or add its network to"
            " allow_private if it is internal"
        )


class Guard:
    """Judges schemes, ports and addresses; knows nothing of connections."""

    def __init__(
        self,
        *,
        allow_http: bool = False,
        allow_private: Iterable[str] = (),
        allow_ports: Iterable[str] = ("80", "443"),
        allow_hosts: Sequence[str] = (),
        deny_networks: Iterable[str] = (),
        own_addresses: OwnAddresses | None = None,
    ) -> None:
        self._schemes = {"https", "http"} if allow_http else {"https"}
        self._private: tuple[Network, ...] = tuple(map(ip_network, allow_private))
        self._denied: tuple[Network, ...] = tuple(map(ip_network, deny_networks))
        self._ports = [_port_range(text) for text in allow_ports]
        self._hosts = [
            f"{project}:{host.lower()}"  # as URLs have it
            for project, _, host in (rule.partition(":") for rule in allow_hosts)
        ]
        self.own_addresses = own_addresses or OwnAddresses()

    @classmethod
    def of(cls, settings: Settings) -> Guard:
        """As the settings say."""
        return cls(
            allow_http=settings.allow_http,
            allow_private=settings.allow_private,
            allow_ports=settings.allow_ports,
            allow_hosts=settings.allow_hosts,
            deny_networks=settings.deny_networks,
            own_addresses=None if settings.allow_own else OwnAddresses(own_endpoints(settings)),
        )

    def check_url(self, url: Url) -> None:
        """What can be judged without asking for a name: scheme, port, a literal address."""
        found = []
        if url.scheme not in self._schemes:
            found.append(Refused("plain http is not allowed here", "Use https, or set allow_http"))
        if not any(low <= url.port <= high for low, high in self._ports):
            found.append(Refused(f"port {url.port} is not allowed here", "Add it to allow_ports"))
        if url.address is not None:
            try:
                self.check_address(str(url.address), url.port)
            except Refused as refused:
                found.append(refused)
        if found:  # all at once: who mends one does not come back for the next
            hints = ". ".join(each.hint for each in found if each.hint)
            raise Refused(", ".join(each.reason for each in found), hints)

    def check_host(self, project: str, host: str) -> None:
        """Refuse a host that is none of those that the project may call, if they are listed."""
        if self._hosts and not is_allowed(self._hosts, project, host):
            rule = rule_for(project, host)
            raise Refused(
                f"project {project!r} may not call {host}",
                f'Add "{rule}" to allow_hosts if intended',
            )

    def check_name(self, host: str) -> None:
        """Refuse names that are internal by their form, without asking whether they exist."""
        if self._private or ("." in host and not host.endswith(_INTERNAL)):
            return
        raise Refused(
            f"{host} is not a public name", "Add its network to allow_private if intended"
        )

    def check_address(self, text: str, port: int) -> None:
        """The very address that is about to be dialled."""
        address = read_address(text)
        if is_in(address, self._denied):
            raise Refused(f"{address} is in deny_networks")
        if not is_public(address) and not is_in(address, self._private):
            raise Refused(
                f"{address} is not a public address", "Add its network to allow_private if intended"
            )
        if self.own_addresses.has(address, port):
            raise Refused(f"{address}:{port} is Tickwell's own", "Set allow_own if intended")

    def check_answers(self, host: str, answers: Sequence[str], port: int) -> None:
        """Every answer must be allowed: the resolver, not we, chooses which one is dialled."""
        if not answers:
            raise NoAddress
        for answer in answers:
            try:
                self.check_address(answer, port)
            except Refused as refused:
                raise Refused(f"{host} is refused: {refused.reason}", refused.hint) from None

    async def look_up(self, host: str, port: int, resolver: Resolver) -> Sequence[str]:
        """The addresses of a name, all of them allowed."""
        try:
            async with asyncio.timeout(LOOKUP_LIMIT):
                await self.own_addresses.look_up(resolver)
                answers = await resolver.resolve(host)
        except TimeoutError:
            raise OSError(f"{host} was not resolved within {LOOKUP_LIMIT:g} s") from None
        except UnicodeError:
            raise NoAddress from None
        except socket.gaierror as error:
            if error.errno in _UNKNOWN:
                raise NoAddress from error
            raise
        self.check_answers(host, answers, port)
        return answers


async def check_target(target: Target, guard: Guard, resolver: Resolver) -> None:
    """Refuse at save a target that the guard would not let out; others it has nothing to do with.

    Every address that the target would dial is judged, the token server's too.
    """
    if not isinstance(target, Http):
        return
    await check_url(target.url, guard, resolver)
    if isinstance(target.auth, OAuth):
        where = "target.http.auth.oauth.token_url"
        await check_url(target.auth.token_url, guard, resolver, field=where)


def _port_range(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return int(low), int(high or low)


async def check_url(
    text: str, guard: Guard, resolver: Resolver, *, field: str = "target.http.url"
) -> None:
    """Refuse at save what would be refused at every dial.

    A name that cannot be resolved now is let through: it may exist tomorrow, and is judged then.
    """
    url = parse_url(text, field)
    try:
        await guard.own_addresses.look_up(resolver)
        guard.check_url(url)
        if url.address is None:
            await guard.look_up(url.host, url.port, resolver)
    except Refused as refused:
        raise InvalidJob(refused.reason, field=field, hint=refused.hint) from None
    except OSError:
        return


async def check_unresolved(text: str, guard: Guard, resolver: Resolver, *, field: str) -> None:
    """The same without asking for the name, for those who save jobs over a network.

    An answer that told a name that leads inside from one that does not exist would let them list
    the names of an internal network. Every dial judges the addresses.
    """
    url = parse_url(text, field)
    try:
        await guard.own_addresses.look_up(resolver)
        guard.check_url(url)
        if url.address is None:
            guard.check_name(url.host)
    except Refused as refused:
        raise InvalidJob(refused.reason, field=field, hint=refused.hint) from None


#: Here the driver asks the environment for what the URL does not say.
_POSTGRES = {"postgresql": 5432, "postgres": 5432}
_STORE_PORTS = _POSTGRES | {"mysql": 3306, "mariadb": 3306, "mongodb": 27017}
_STORE_PORTS |= {"redis": 6379, "rediss": 6379}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A host, by name or address, and a port."""

    host: str
    port: int


def own_endpoints(settings: Settings) -> tuple[Endpoint, ...]:
    """The listener, and the store and the Redis for wake-ups where they are on a network."""
    stores = (settings.store, settings.notify or "")
    return (
        Endpoint(settings.host, settings.port),
        *(endpoint for url in stores for endpoint in _store_endpoints(url)),
    )


def _store_endpoints(url: str) -> Iterable[Endpoint]:
    scheme = url.partition("://")[0]
    if scheme not in _STORE_PORTS:  # as mongodb+srv, which names a domain and no host
        return
    parts = split_store_url(url)
    hosts, ports = parts.netloc.rpartition("@")[2], ""
    if scheme in _POSTGRES:
        options = dict(parse_qsl(parts.query))
        hosts = hosts or options.get("host") or os.environ.get("PGHOST", "")
        ports = options.get("port") or os.environ.get("PGPORT", "")
    names, behind = hosts.split(","), ports.split(",")
    behind = behind if len(behind) == len(names) else behind[:1] * len(names)
    for name, port in zip(names, behind, strict=True):
        usual = int(port) if port.isdecimal() else _STORE_PORTS[scheme]
        yield _endpoint(name, usual)


def _endpoint(name: str, usual: int) -> Endpoint:
    one = urlsplit(f"//{name}")
    host = unquote(one.hostname or "")
    if not host or host.startswith("/") or name.startswith("@"):
        host = "localhost"  # a socket's server is on this machine, and hears that port as well
    try:
        port = one.port
    except ValueError:
        port = None
    return Endpoint(host, port or usual)


class OwnAddresses:
    """The addresses of these endpoints; names are looked up until they are found."""

    def __init__(self, endpoints: Iterable[Endpoint] = ()) -> None:
        self._missing = tuple(endpoints)
        self._ports = {endpoint.port for endpoint in self._missing}
        self._known: set[tuple[Address, int]] = set()
        self._everywhere: set[int] = set()

    async def look_up(self, resolver: Resolver) -> None:
        """Find the addresses of names; one that is not found now may be so later."""
        if not self._missing:
            return
        missing = []
        for endpoint in self._missing:
            try:
                addresses = [str(ip_address(endpoint.host))]
            except ValueError:
                try:
                    addresses = list(await resolver.resolve(endpoint.host))
                except OSError:
                    missing.append(endpoint)
                    continue
            for address in map(read_address, addresses):
                if address.is_unspecified or address.is_loopback:
                    self._everywhere.add(endpoint.port)
                self._known.add((address, endpoint.port))
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
