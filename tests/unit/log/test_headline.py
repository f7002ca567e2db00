import traceback

import pytest

from tickwell.log.headline import headline


def raised(error, cause=None):
    """One with frames of its own."""

    def handler():
        raise error from cause

    with pytest.raises(type(error)) as caught:
        handler()
    return caught.value


def written(error):
    """As Python writes an error that was raised."""
    return "".join(traceback.format_exception(raised(error, error.__cause__)))


MANY = "ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)"
TASKS = [raised(KeyError("sku")), OSError("no route")]


@pytest.mark.parametrize(
    ("error", "line"),
    [
        ("HTTP 503: try later\nbody", "HTTP 503: try later"),
        ("\n  \n", ""),
        (written(ValueError("no such order")), "ValueError: no such order"),
        (written(ValueError()), "ValueError"),
        (
            written(
                OSError("timed out\n[SQL: SELECT 1]\n(Background on this error at: https://…)")
            ),
            "OSError: timed out",
        ),
        (written(raised(RuntimeError("late"), raised(OSError("away")))), "RuntimeError: late"),
        (
            written(ExceptionGroup("unhandled errors in a TaskGroup", TASKS)),
            f"{MANY}: KeyError: 'sku'",
        ),
        (
            written(ExceptionGroup("outer", [raised(ExceptionGroup("inner", TASKS))])),
            "ExceptionGroup: outer (1 sub-exception): KeyError: 'sku'",
        ),
        (
            written(raised(ExceptionGroup("both", TASKS), raised(OSError("away")))),
            "ExceptionGroup: both (2 sub-exceptions): KeyError: 'sku'",
        ),
        (
            written(raised(RuntimeError("late"), ExceptionGroup("both", TASKS))),
            "RuntimeError: late",
        ),
        (
            "".join(traceback.format_exception(ExceptionGroup("both", TASKS[1:]))),
            "ExceptionGroup: both (1 sub-exception): OSError: no route",
        ),
        # Only the end of a long error is stored.
        ("…e 'a', line 3\n    f()\nKeyError: 'x'\nmore", "KeyError: 'x'"),
        ("…e 'a', line 3\n  | KeyError: 'x'\n  +-----------\n", "KeyError: 'x'"),
        ("…e 'a', line 3\n    f()", "f()"),
        ("… (1 sub-exception)\n  | M (1 sub-exception)\n  +---------", "M (1 sub-exception)"),
    ],
)
def test_one_line_stands_for_an_error(error, line):
    assert headline(error) == line
