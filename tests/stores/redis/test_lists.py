"""Lists for people on Redis."""

from tests.stores.looking import (
    test_a_page_of_executions_looks_only_so_far,
    test_a_page_of_jobs_looks_only_so_far,
)

__all__ = [
    "test_a_page_of_executions_looks_only_so_far",
    "test_a_page_of_jobs_looks_only_so_far",
]
