"""Client certificates, for receivers that ask for one."""

from __future__ import annotations

import os
import ssl
import tempfile
from pathlib import Path

from tickwell.executors.http.client_key import Unusable, checked_pem
from tickwell.executors.http.values import Unsendable


def load(context: ssl.SSLContext, pem: str) -> None:
    """Give a context the certificate and key of a PEM text."""
    try:
        text = checked_pem(pem)
    except Unusable as error:
        raise Unsendable(f"the client certificate cannot be used: {error}") from None
    # OpenSSL reads them from a file only: one that nobody else may read, for a moment.
    handle, path = tempfile.mkstemp(prefix="tickwell-", suffix=".pem")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        context.load_cert_chain(path)
    except (ssl.SSLError, ValueError, OSError):
        raise Unsendable(
            "the client certificate cannot be used: its key cannot be read, or belongs to another"
            " certificate"
        ) from None
    finally:
        Path(path).unlink()
