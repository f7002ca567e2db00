"""Which statements make the driver ask for the types of arrays, which takes the server 8 ms."""

import pytest

from tickwell.stores.postgres.connection import has_arrays
from tickwell.stores.postgres.session import statements

#: What a process asks before its first claim, and while it does nothing but claim and end.
OFTEN = (
    *("time", "beat", "owned", "list_workers", "orphans", "is_due", "expired", "promote"),
    *(
        "queues",
        "next_wakeup",
        "claimable",
        "best_of_lanes",
        "claim_lanes",
        "claim_ids",
        "documents",
    ),
    "finish_quickly",
)


@pytest.mark.parametrize("name", OFTEN)
def test_what_a_worker_asks_has_no_arrays_to_be_learned(name):
    assert not has_arrays(statements("tickwell")[name])


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT $1::uuid[]", True),
        ("SELECT $12::int[]", True),
        ("SELECT $1::text[]", False),
        ("SELECT $1::text::uuid[]", False),
        ("SELECT 1 WHERE job <> ALL ((SELECT $2::text::uuid[])::uuid[])", False),
    ],
)
def test_arrays_are_found_where_they_are_sent(statement, expected):
    assert has_arrays(statement) is expected
