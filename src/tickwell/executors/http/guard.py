"""The guard against request forgery: where a webhook may go, judged at save and at every dial."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable, Sequence
from ipaddress import ip_network

from tickwell.domain.http import Http, OAuth
from tickwell.domain.http.url import Url, parse_url
from tickwell.domain.target import Target
from tickwell.errors import InvalidJob
from tickwell.executors.http.address import (
    Network,
    is_in,
    is_public,
    read_address,
)
from tickwell.executors.http.own import Own, own_places
from tickwell.executors.http.resolver import Resolver
from tickwell.settings import Settings

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
        deny_networks: Iterable[str] = (),
        own: Own | None = None,
    ) -> None:
        self._schemes = {"https", "http"} if allow_http else {"https"}
        self._private: tuple[Network, ...] = tuple(map(ip_network, allow_private))
        self._denied: tuple[Network, ...] = tuple(map(ip_network, deny_networks))
        self._ports = [_port_range(text) for text in allow_ports]
        self.own = own or Own()

    @classmethod
    def of(cls, settings: Settings) -> Guard:
        """As the settings say."""
        return cls(
            allow_http=settings.allow_http,
            allow_private=settings.allow_private,
            allow_ports=settings.allow_ports,
            deny_networks=settings.deny_networks,
            own=None if settings.allow_own else Own(own_places(settings)),
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

    def check_name(self, host: str) -> None:
        """Refuse names that are internal by their form, without asking whether they exist."""
        if self._private or ("." in host and not host.endswith(_INTERNAL)):
            return
        raise Refused(f"{host} is not a public name", "Add its network to allow_private if meant")

    def check_address(self, text: str, port: int) -> None:
        """The very address that is about to be dialled."""
        address = read_address(text)
        if is_in(address, self._denied):
            raise Refused(f"{address} is in deny_networks")
        if not is_public(address) and not is_in(address, self._private):
            raise Refused(
                f"{address} is not a public address", "Add its network to allow_private if meant"
            )
        if self.own.has(address, port):
            raise Refused(f"{address}:{port} is Tickwell's own", "Set allow_own if meant")

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
                await self.own.look_up(resolver)
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
        await guard.own.look_up(resolver)
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
        await guard.own.look_up(resolver)
        guard.check_url(url)
        if url.address is None:
            guard.check_name(url.host)
    except Refused as refused:
        raise InvalidJob(refused.reason, field=field, hint=refused.hint) from None
