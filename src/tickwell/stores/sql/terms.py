"""Conditions of a query, term by term."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: A statement with its parameters.
Query = tuple[str, list[Any]]


class Terms:
    """Conditions and their parameters; `?` stands for the next of them."""

    def __init__(self, placeholder: Callable[[int], str] | None = None) -> None:
        """Where parameters are numbered or written otherwise: how the n-th, from 1, is written."""
        self.values: list[Any] = []
        self._terms: list[str] = []
        self._placeholder = placeholder

    def add(self, term: str, *parameters: Any) -> None:
        """One more condition."""
        for parameter in parameters:
            self.values.append(parameter)
            if self._placeholder is not None:
                term = term.replace("?", self._placeholder(len(self.values)), 1)
        self._terms.append(term)

    def __str__(self) -> str:
        """All of them."""
        return " AND ".join(self._terms) or "TRUE"
