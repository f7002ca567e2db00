"""Texts of others on a terminal: no control characters, as wide as they are, cut to fit."""

from __future__ import annotations

import unicodedata

from tickwell.domain.naming import is_visible


def safe(text: str) -> str:
    """The text with everything that steers a terminal spelled out; lines stay lines."""
    if is_visible(text):
        return text
    text = text.replace("\r\n", "\n")
    return "".join(each if each.isprintable() or each == "\n" else _spelled(each) for each in text)


def one_line(text: str) -> str:
    """The same in one line, as a cell of a table needs it."""
    return safe(" ".join(text.split("\n"))).strip() if "\n" in text else safe(text)


def width_of(text: str) -> int:
    """Columns that it takes: letters of East Asia take two, accents of their own none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 1 + (unicodedata.east_asian_width(each) in "WF")
        for each in text
    )


def fit(text: str, width: int) -> str:
    """Cut, with a mark that something is missing."""
    if width_of(text) <= width:
        return text
    cut = text[:width]
    while width_of(cut) > width - 1:
        cut = cut[:-1]
    return f"{cut}…"


def _spelled(character: str) -> str:
    return " " if character == "\t" else character.encode("unicode_escape").decode()
