"""A handler that prints in a process of its own, and goes on until it is asked to stop."""

from tickwell import Run


def talk(run: Run) -> None:
    """Print, wait, print."""
    print("in a process")  # noqa: T201
    run.cancelled.wait()
    print("the end")  # noqa: T201
