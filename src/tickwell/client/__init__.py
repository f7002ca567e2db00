"""A client of the API, by `await` or without: each operation is a method named by its id.

    with Client("https://jobs.example.com") as tickwell:
        for job in tickwell.iter_jobs(tag="nightly"):
            tickwell.trigger_job(job["name"])

Answers are the documents of the API, typed by `tickwell.client.results`; errors are those of
`tickwell.errors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tickwell.domain.payload import KEEP

if TYPE_CHECKING:
    from tickwell.client.asynchronous import AsyncClient
    from tickwell.client.synchronous import Client

__all__ = ["KEEP", "AsyncClient", "Client"]


def __getattr__(name: str) -> Any:
    """Import a client when it is used: a command on a store needs no HTTP."""
    if name == "AsyncClient":
        from tickwell.client.asynchronous import AsyncClient

        return AsyncClient
    if name == "Client":
        from tickwell.client.synchronous import Client

        return Client
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
