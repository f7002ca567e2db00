"""What a type checker knows of the clients; `assert_type` is judged by mypy, not by running."""

from collections.abc import AsyncIterator, Iterator
from typing import assert_type

from tickwell.client import AsyncClient, Client
from tickwell.client.results import Job, JobChanged


def test_an_operation_has_its_arguments_and_its_answer() -> None:
    async def look(blocks: Client, awaits: AsyncClient) -> None:
        assert_type(blocks.get_job("x"), Job)
        assert_type(await awaits.get_job("x"), Job)
        assert_type(blocks.iter_jobs(tag="x"), Iterator[Job])
        assert_type(awaits.iter_jobs(tag="x"), AsyncIterator[Job])
        assert_type(blocks.delete_job("x", version=3), JobChanged)
        blocks.get_job()  # type: ignore[call-arg]
        blocks.bulk_pause(nonsense=1)  # type: ignore[call-arg]
        await awaits.trigger_job("x", at=5)  # type: ignore[arg-type]

    assert callable(look)
