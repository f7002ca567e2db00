"""What was planned ahead is answered by the misfire policy here too, after a crash and a stop."""

import pytest

from tests.faults import test_absence as on_any_store
from tests.faults.test_absence import AHEAD, UNCLAIMED, killed, stopped


@pytest.mark.parametrize(("away", "settings"), [(killed, UNCLAIMED), (stopped, AHEAD)])
def test_fires_that_were_planned_ahead_meet_the_policy_of_their_job(
    site, processes, away, settings
):
    on_any_store.test_fires_that_were_planned_ahead_meet_the_policy_of_their_job(
        site, processes, away, settings
    )
