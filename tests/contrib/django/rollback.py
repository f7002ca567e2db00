"""One of the project's own tests alone, for the broken variant that it must catch."""

from tests.contrib.django.project_processes import SHOP, on_postgres


async def test_a_rollback_takes_its_runs_along():
    project = await on_postgres("shop_rollback")
    only = f"{SHOP}.checks_transactions.Transactions.test_a_rollback_leaves_nothing"
    assert project.check(only) == 1
