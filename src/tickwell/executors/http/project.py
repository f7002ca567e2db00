"""The project on whose behalf something goes out: its lookups and handshakes count for it alone."""

from __future__ import annotations

from contextvars import ContextVar

#: Set by the caller before a request; empty: Tickwell itself.
PROJECT: ContextVar[str] = ContextVar("project", default="")
