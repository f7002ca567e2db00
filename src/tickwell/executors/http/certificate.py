"""Client certificates, for receivers that ask for one."""

from __future__ import annotations

import os
import ssl
import tempfile
from pathlib import Path

from tickwell.executors.http.values import Unsendable


def load(context: ssl.SSLContext, pem: str) -> None:
    """Give a context the certificate and key of a PEM text."""
    # OpenSSL reads them from a file only: one that nobody else may read, for a moment.
    handle, path = tempfile.mkstemp(prefix="tickwell-", suffix=".pem")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(pem)
        context.load_cert_chain(path, password=_no_password)
    except (ssl.SSLError, ValueError, OSError):
        raise Unsendable(
            "the client certificate cannot be used: it must hold a certificate and its key,"
            " without a password, as PEM"
        ) from None
    finally:
        Path(path).unlink()


def _no_password() -> str:
    raise ValueError("the key has a password")
