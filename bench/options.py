"""What was asked for on the command line."""

from dataclasses import dataclass

from bench.stores import STORES, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Handed to every case."""

    #: Rounds are multiplied by this.
    repeat: int = 1
    #: One of STORES; empty: all.
    store: str = ""
    #: For cases that go on for as long as they are told to.
    minutes: float = 3.0
    #: How much of the data of cases that need much of it.
    part: float = 1.0

    @property
    def stores(self) -> list[Kind]:
        return [store for name, store in STORES.items() if self.store in {"", name}]
