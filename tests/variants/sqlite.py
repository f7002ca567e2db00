"""SQLite stores that break a promise."""

from dataclasses import replace

from tickwell.domain.execution import OutcomeKind
from tickwell.stores.sql.flow import finishing
from tickwell.stores.sql.rows import codec
from tickwell.stores.sqlite import parts, transactional
from tickwell.stores.sqlite.session import Session


def no_fence(patches):
    """Whoever reports an attempt of a running execution is believed."""

    class Any(int):
        __hash__ = int.__hash__

        def __eq__(self, other):
            return True

        def __ne__(self, other):
            return False

    sound = Session.array
    #: Where the attempt is among the columns.
    column = {"reported": 2, "running_rows": 2}

    def array(self, name, *parameters):
        rows = sound(self, name, *parameters)
        for row in rows:
            row[column[name]] = Any(row[column[name]])
        return rows

    patches.setattr(Session, "array", array)


def no_without_the_cursor(patches):
    """The end of a fire whose condition answered no is written as if it concerned nothing else."""
    sound = finishing.is_quick

    def is_quick(report):
        return sound(report) or report.outcome is OutcomeKind.SKIPPED

    patches.setattr(finishing, "is_quick", is_quick)


def no_compare_and_set(patches):
    """Plans are written though others have moved the cursor since they were made."""

    async def unchanged(session, planned):
        return planned

    patches.setattr(parts, "_unchanged", unchanged)


def read_before_lock(patches):
    """What a requested run needs is read before the file's write lock is held."""
    patches.setattr(transactional, "_take_lock", lambda connection, path: None)


def backlogs_left_out(patches):
    """What a job holds of missed fires is not written with its cursor."""
    sound = codec.halts_to_json
    patches.setattr(codec, "halts_to_json", lambda cursor: sound(replace(cursor, backlog=None)))
