"""A bar for long work: on standard error, and only where somebody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from tickwell.cli.screen import Screen


@contextmanager
def progress(screen: Screen, label: str, length: int) -> Iterator[Callable[[int], None]]:
    """A function to be told of every step that is done."""
    if not screen.is_watched or length <= 0:
        yield lambda _: None
        return
    with typer.progressbar(length=length, label=label, file=screen.err) as bar:
        yield bar.update
