"""Slots as a table, and their sum."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tickwell.cli.pages import say_count
from tickwell.cli.screen import Screen
from tickwell.cli.times import say_time

#: An execution may still be waiting, or have died: its state says so.
_WORDS = {"executed": "has an execution"}


def show_slots(screen: Screen, page: dict[str, Any]) -> None:
    """Every fire time with its answer; where that is an execution, a person reads its state."""
    headings: tuple[str, ...] = ("FIRE TIME", "ANSWER", "EXECUTION", "REASON")
    rows: list[tuple[str, ...]] = [
        (
            say_time(slot["fire_time"]),
            slot["state"] or slot["answer"],
            slot["execution_id"] or "",
            slot["reason"] or "",
        )
        for slot in page["items"]
    ]
    if not screen.is_terminal:
        headings = ("FIRE TIME", "ANSWER", "STATE", "REASON", "EXECUTION")
        rows = [
            (
                slot["fire_time"],
                _WORDS.get(slot["answer"], slot["answer"]),
                slot["state"] or "",
                slot["reason"] or "",
                slot["execution_id"] or "",
            )
            for slot in page["items"]
        ]
    screen.table(headings, rows, soft=("REASON",), below=True)
    screen.say(_sum(page["items"]))
    if page["next"]:
        screen.say(f"There is more: repeat this with --since {page['next']}")


def _sum(slots: list[dict[str, Any]]) -> str:
    if not slots:
        return "No fire time in this range. Choose another: --since 7d --until +1d"
    answers = Counter(slot["answer"] for slot in slots)
    words = _WORDS | {"executed": "with an execution"}
    said = ", ".join(
        f"{count} {words.get(answer, answer)}" for answer, count in answers.most_common()
    )
    return f"{say_count(len(slots), 'fire time')}: {said}."
