"""The same with a million jobs."""

from tests.plans.test_sqlite_steps import compare


async def test_a_million_jobs_cost_no_more_than_a_thousand(tmp_path):
    await compare(tmp_path, 1_000_000)
