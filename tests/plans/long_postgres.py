"""The same with 1,000,000 jobs and 5,000,000 executions in history, which takes minutes to fill."""

import pytest

from tests.plans.test_postgres import (  # noqa: F401 - the tests are these
    test_a_filter_that_no_execution_matches_looks_as_far_as_it_may,
    test_a_filter_that_no_job_matches_looks_as_far_as_it_may,
    test_a_hot_statement_looks_at_twice_its_limit_at_most,
    test_a_page_of_executions_looks_at_a_page,
    test_a_page_of_jobs_looks_at_a_page,
    test_an_index_is_read_no_further_than_its_rows,
    test_no_statement_walks_over_a_table_but_those_that_may,
    test_orphans_are_found_among_what_is_running,
    test_several_lanes_are_looked_at_as_far_as_the_limit_goes,
    test_the_soonest_jobs_are_found_by_their_time,
)

pytestmark = pytest.mark.timeout(3600)

JOBS, ENDED = 1_000_000, 5_000_000
