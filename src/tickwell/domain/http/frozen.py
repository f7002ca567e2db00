"""A mapping that never changes, so that what holds it can be hashed."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping


class Frozen(Mapping[str, str]):
    """Texts by name, in the order given."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, str] | None = None) -> None:
        self._items = dict(items or {})

    def __getitem__(self, name: str) -> str:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    # The two below are what `Mapping` would do in ten times the time.
    def __eq__(self, other: object) -> bool:
        if isinstance(other, Frozen):
            return self._items == other._items
        return self._items == other

    def items(self) -> ItemsView[str, str]:
        return self._items.items()

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)
