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
    """Every fire time with its answer."""
    screen.table(
        ("FIRE TIME", "ANSWER", "STATE", "REASON", "EXECUTION"),
        [
            (
                say_time(slot["fire_time"]) if screen.is_terminal else slot["fire_time"],
                _WORDS.get(slot["answer"], slot["answer"]),
                slot["state"] or "",
                slot["reason"] or "",
                slot["execution_id"] or "",
            )
            for slot in page["items"]
        ],
        soft=("REASON",),
    )
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
