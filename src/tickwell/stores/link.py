"""The link to a store's server: verified TLS, unless the server is on this machine.

Who can reach the network between could otherwise be the server, and be sent the password.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from tickwell.domain.store_url import split_store_url

#: Where systems keep the authorities that they trust in one file, if OpenSSL does not say.
_AUTHORITIES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
#: What drivers quote of OpenSSL: not all of them hand its exception on.
_UNVERIFIED = re.compile(r"certificate verify failed: (.+?)\.? \(_ssl")
_NO_TLS = re.compile(r"WRONG_VERSION_NUMBER|SSL handshake failed|RECORD_LAYER_FAILURE")
_OPEN = "goes over the network neither encrypted nor verified"
_FORGEABLE = "is encrypted, but nothing shows that the server is the right one"


def is_local(host: str) -> bool:
    """Whether a host is this machine: a loopback address, its name, or a socket."""
    host = unquote(host).lower().strip("[]").removesuffix(".")
    if not host or host[0] in "/@" or host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def hosts_of(netloc: str) -> list[str]:
    """The hosts before a path, without user, password and ports."""
    names = unquote(netloc.rpartition("@")[2]).split(",")
    return [name[: name.find("]") + 1] or name.partition(":")[0] for name in names]


def system_authorities() -> str | None:
    """A file with the authorities that this machine trusts."""
    named = ssl.get_default_verify_paths().cafile
    return named or next((path for path in _AUTHORITIES if Path(path).is_file()), None)


def weakness(url: str) -> str | None:
    """What others on the network could do to the link to a store or broker; None: nothing."""
    parts = split_store_url(url)
    options = {name.lower(): value for name, value in parse_qsl(parts.query)}
    hosts = hosts_of(parts.netloc)
    if parts.scheme in {"postgresql", "postgres"}:
        hosts = postgres_hosts(hosts, options)
    if all(map(is_local, hosts)) or "socket" in options:
        return None
    match parts.scheme:
        case "postgresql" | "postgres":
            return _of_postgres(options)
        case "mysql" | "mariadb":
            ways = {"false": ("ssl=false", _OPEN), "unverified": ("ssl=unverified", _FORGEABLE)}
            option, words = ways.get(options.get("ssl", ""), ("", ""))
        case "mongodb" | "mongodb+srv":
            option, words = _of_mongo(options)
        case "redis":
            option, words = "redis://", _OPEN
        case "rediss":
            option, words = _of_redis(options)
        case "amqp" | "pyamqp":
            option, words = f"{parts.scheme}://", _OPEN
        case _:
            return None
    return f"{words} ({option})" if words else None


def postgres_hosts(hosts: list[str], options: Mapping[str, str]) -> list[str]:
    """With those that stand in an option or the environment."""
    if hosts != [""]:
        return hosts
    return (options.get("host") or os.environ.get("PGHOST", "")).split(",")


def unaccepted(why: str, option: str) -> str:
    """Words for a server certificate that was not accepted; the option names the authorities."""
    return f"has a certificate that is not accepted ({why}); check the host and {option} in the URL"


def tls_fault(error: BaseException, authorities: str, plain: str) -> str | None:
    """What a driver's error says of TLS, with the options of the URL to check; None: nothing."""
    if found := _UNVERIFIED.search(str(error)):
        return unaccepted(found[1], authorities)
    if _NO_TLS.search(str(error)):
        return (
            "refuses TLS, which servers on other machines need unless the URL"
            f" says otherwise; switch it on there, or on a trusted network use {plain}"
        )
    return None


def _of_postgres(options: Mapping[str, str]) -> str | None:
    mode = options.get("sslmode") or os.environ.get("PGSSLMODE", "verify-full")
    if mode in {"disable", "allow", "prefer"}:
        return f"{_OPEN} (sslmode={mode})"
    if mode == "require" and "sslrootcert" not in options:
        return f"{_FORGEABLE} (sslmode={mode})"
    return None


def _of_mongo(options: Mapping[str, str]) -> tuple[str, str]:
    for name in ("tls", "ssl"):
        if options.get(name, "").lower() == "false":
            return f"{name}=false", _OPEN
    for name in ("tlsInsecure", "tlsAllowInvalidCertificates", "tlsAllowInvalidHostnames"):
        if options.get(name.lower(), "").lower() == "true":
            return f"{name}=true", _FORGEABLE
    return "", ""


def _of_redis(options: Mapping[str, str]) -> tuple[str, str]:
    wanted = options.get("ssl_cert_reqs", "required")
    if wanted.lower().removeprefix("cert_") != "required":  # Celery has it either way
        return f"ssl_cert_reqs={wanted}", _FORGEABLE
    if options.get("ssl_check_hostname", "true").lower() in {"false", "0", "no"}:
        return "ssl_check_hostname=false", _FORGEABLE
    return "", ""
