"""A client of the API, by `await` or without: each operation is a method named by its id.

    with Client("https://jobs.example.com") as tickwell:
        for job in tickwell.iter_jobs(tag="nightly"):
            tickwell.trigger_job(job["name"])

Answers are the documents of the API, typed by `tickwell.client.results`; errors are those of
`tickwell.errors`.
"""

from tickwell.client.asynchronous import AsyncClient
from tickwell.client.call import KEEP
from tickwell.client.synchronous import Client

__all__ = ["KEEP", "AsyncClient", "Client"]
