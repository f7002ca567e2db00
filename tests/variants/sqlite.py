"""SQLite stores that break a promise."""

from tickwell.stores.sql.placing import Batch
from tickwell.stores.sqlite import finishing, firing, transactional
from tickwell.stores.sqlite.standing import Standing


def no_fence(patches):
    """Whoever reports an attempt of a running execution is believed."""

    class Any(int):
        __hash__ = int.__hash__

        def __eq__(self, other):
            return True

    patches.setattr(
        finishing, "Standing", lambda *row: Standing(*row)._replace(attempt=Any(row[2]))
    )


def no_compare_and_set(patches):
    """Plans are written though others have moved the cursor since they were made."""

    def standing(session, plans):
        return plans, [Batch(one.row[0], None, one.plan.executions) for one in plans]

    patches.setattr(firing, "_standing", standing)


def read_before_lock(patches):
    """What a requested run needs is read before the file's write lock is held."""
    patches.setattr(transactional, "_take_lock", lambda connection, path: None)
