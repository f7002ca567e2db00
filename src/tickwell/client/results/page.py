"""Lists."""

from __future__ import annotations

from typing import Generic, TypedDict, TypeVar

T = TypeVar("T")


class Items(TypedDict, Generic[T]):
    """A whole list."""

    items: list[T]


class Page(TypedDict, Generic[T]):
    """A part of a list; `next_cursor` is where the next part begins."""

    items: list[T]
    next_cursor: str | None
