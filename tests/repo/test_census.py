"""Stores are composed of parts with names, not inherited through layers of mixins."""

import pytest

from scripts import census


@pytest.mark.parametrize("kind", census.STORES.values(), ids=list(census.STORES))
def test_a_store_inherits_from_five_classes_at_most(kind):
    classes = census.mro(kind)
    assert classes is not None
    assert classes <= 6


async def test_a_fire_of_a_cron_job_is_traced_through_plan_claim_and_report():
    files = await census.fire_files()
    stages = {"planning/planner.py", "claiming/worker.py", "running/reporter.py"}
    assert {f"engine/{stage}" for stage in stages} <= files
