"""What was asked for on the command line."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Handed to every case."""

    #: Rounds are multiplied by this.
    repeat: int = 1
