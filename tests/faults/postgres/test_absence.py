"""What was planned ahead is answered by the misfire policy here too.

After a crash, a stop, and while a process was frozen.
"""

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


def test_fires_that_came_due_while_their_process_was_frozen_meet_the_policy_of_their_job(
    site, processes
):
    on_any_store.test_fires_that_came_due_while_their_process_was_frozen_meet_the_policy_of_their_job(
        site, processes
    )
