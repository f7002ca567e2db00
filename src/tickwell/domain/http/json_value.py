"""Values that never change, so that they can be hashed and shared: mappings and JSON."""

from __future__ import annotations

import json
from collections.abc import ItemsView, Iterator, Mapping
from typing import Any

from tickwell.errors import InvalidJob


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


#: Lists in lists and objects in objects.
DEEPEST = 32


class Json:
    """A JSON body. Needed by name only for `null` and for a text that is to be sent as JSON."""

    __slots__ = ("_text",)

    def __init__(self, value: Any) -> None:
        try:
            self._text = json.dumps(value, allow_nan=False, ensure_ascii=False)
            self._text.encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidJob(
                f"is not JSON: {error}",
                field="target.http.body",
                hint="Use texts, numbers, true, false, null, lists and objects",
            ) from None
        if depth(value) > DEEPEST:
            raise InvalidJob(f"is nested more than {DEEPEST} deep", field="target.http.body")

    @property
    def text(self) -> str:
        """As it is sent when nothing is substituted."""
        return self._text

    @property
    def value(self) -> Any:
        """A copy of the value."""
        return json.loads(self._text)

    def _canonical(self) -> str:
        # Stores may give objects back in another order.
        return json.dumps(json.loads(self._text), sort_keys=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Json):
            return NotImplemented
        return self._text == other._text or self._canonical() == other._canonical()

    def __hash__(self) -> int:
        return hash(self._canonical())

    def __repr__(self) -> str:
        return f"Json({self.value!r})"


def depth(value: Any) -> int:
    """How deep lists and objects are nested; 0 for a single value."""
    deepest, level = 0, [value]
    while level and deepest <= DEEPEST:
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list | tuple):
                inner += each
        if not any(isinstance(each, dict | list | tuple) for each in level):
            break
        deepest, level = deepest + 1, inner
    return deepest
