"""Takes secrets out of what is kept: a receiver may send back what it got."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import ParamSpec, TypeVar

from tickwell.executors.http.forms import forms
from tickwell.executors.http.overlap import overlap
from tickwell.executors.http.search import padded

#: What stands in for a secret in all that is kept.
HIDDEN = "***"
#: Characters of secrets whose forms are worked out in the loop: 5 ms at most.
FEW = 4 * 1024
#: Characters that all forms of the secrets of one attempt may have, worked out in 30 ms. A usual
#: key has one form, a certificate 13, a text with signs of every kind 68.
MOST_FORMS = 2 * 1024 * 1024
#: Characters to look at, once for each form: up to 15 ms in the loop, up to 0.1 s in a thread.
FEW_LOOKS, MOST_LOOKS = 1024 * 1024, 64 * 1024 * 1024
#: A shorter text takes as long as one of so many characters, at worst.
_SHORT = 4000

Given = ParamSpec("Given")
Found = TypeVar("Found")


class Hider:
    """Knows the forms of some secrets. Where there is too much to look for, it keeps nothing."""

    __slots__ = ("_forms", "_size")

    def __init__(self, values: Iterable[str] = ()) -> None:
        found: set[str] = set()
        size = 0
        for value in set(values):
            new = {*forms(value)} - found
            found |= new
            size += sum(map(len, new))
            if size > MOST_FORMS:
                break
        #: The longest first, since one may hold another.
        self._forms = sorted(found, key=len, reverse=True)
        self._size = size

    def looks(self, *lengths: int) -> int:
        """Characters to look at in texts of these lengths."""
        return len(self._forms) * sum(max(length, _SHORT) for length in lengths)

    def __call__(self, text: str) -> str:
        """The text without them."""
        if not self._forms or not text:
            return text
        if self._size > MOST_FORMS or self.looks(len(text)) > MOST_LOOKS:
            return HIDDEN
        text = self._without_whole(text)
        # What was cut may end in the beginning of one.
        for form in self._forms:
            cut = overlap(text, form)
            if cut:
                text = text[:-cut] + HIDDEN
        return text

    def each(self, texts: Sequence[str]) -> list[str]:
        """Several texts without them."""
        if self.looks(*map(len, texts)) > MOST_LOOKS:
            return [HIDDEN] * len(texts)
        return [*map(self, texts)]

    def _without_whole(self, text: str) -> str:
        found = padded(text, *self._forms)
        padding = found[len(text) :]
        for form in self._forms:
            found = found.replace(form, HIDDEN)
        return found.removesuffix(padding)


#: For whom nothing was filled in.
HIDE_NOTHING = Hider()


async def make_hider(values: Collection[str]) -> Hider:
    """One for these secrets; where they are long, not in the loop."""
    is_much = sum(map(len, values)) > FEW
    return await asyncio.to_thread(Hider, values) if is_much else Hider(values)


async def aside(
    looks: int, do: Callable[Given, Found], *given: Given.args, **named: Given.kwargs
) -> Found:
    """What is done, not in the loop where that takes so many looks."""
    if looks > FEW_LOOKS:
        return await asyncio.to_thread(do, *given, **named)
    return do(*given, **named)
