"""What a proxy says of whom it speaks for: believed only if the proxy is a trusted one."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from starlette.types import ASGIApp, Receive, Scope, Send

#: One or more parts of a path, none of them to be read as anything else.
_PREFIX = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+")


class Forwarded:
    """Puts the client's address, scheme and path into the scope as trusted proxies tell them."""

    def __init__(self, application: ASGIApp, trusted: tuple[str, ...]) -> None:
        self.application = application
        networks = [ip_network(network) for network in trusted]

        @lru_cache(maxsize=1024)
        def is_trusted(text: str) -> bool:
            address = _address(text)
            return address is not None and any(address in network for network in networks)

        self.is_trusted = is_trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on as coming from whom it comes from."""
        client = scope.get("client")
        if scope["type"] == "http" and client and self.is_trusted(client[0]):
            scope = self._seen_through(scope)
        await self.application(scope, receive, send)

    def _seen_through(self, scope: Scope) -> Scope:
        headers = scope["headers"]
        hops = [
            hop.strip()
            for name, value in headers
            if name == b"x-forwarded-for"
            for hop in value.decode("latin-1").split(",")
        ]
        found = dict(scope)
        # From the right: what stands left of the first stranger, the stranger may have made up.
        for hop in reversed(hops):
            if _address(hop) is None:
                break
            found["client"] = (hop, 0)
            if not self.is_trusted(hop):
                break
        schemes = [value for name, value in headers if name == b"x-forwarded-proto"]
        if schemes and schemes[-1] in {b"http", b"https"}:
            found["scheme"] = schemes[-1].decode()
        prefixes = [value for name, value in headers if name == b"x-forwarded-prefix"]
        if prefixes and _PREFIX.fullmatch(prefix := prefixes[-1].decode("latin-1")):
            # As ASGI has it: the path is the whole one, of which the proxy took a part away.
            found |= {"root_path": prefix, "path": prefix + scope["path"]}
        return found


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
