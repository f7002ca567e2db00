"""What attempts printed, and what their webhooks were answered with, as people read it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tickwell.cli.screen import Screen
from tickwell.cli.text import one_line, safe

Document = dict[str, Any]


def show_responses(screen: Screen, attempts: Iterable[Document]) -> None:
    """The responses to the webhooks of one execution; a pipe gets each as one line of JSON."""
    for attempt in attempts:
        response = attempt.get("response")
        if not response:
            continue
        if not screen.is_terminal:
            text = json.dumps(response, ensure_ascii=False)
            screen.data(f"response\t{attempt['number']}\t{one_line(text)}")
            continue
        screen.heading(f"Response to attempt {attempt['number']}")
        more = ", and more that was not read" if response.get("cut") else ""
        headers = response.get("headers", {}).items()
        screen.record(
            [
                ("status", str(response["status"])),
                ("size", f"{response['bytes']:,} bytes{more}"),
                *((safe(name.lower()), value) for name, value in headers),
                ("body", response["body"]),
            ]
        )


def show_logs(screen: Screen, logs: Iterable[Document]) -> None:
    """What the attempts of one execution printed and logged."""
    for log in logs:
        screen.heading(f"Log of attempt {log['attempt']}")
        head = "" if screen.is_terminal else f"log\t{log['attempt']}\t"
        for line in log_lines(log):
            screen.data(head + safe(line))


def log_lines(log: Document, seen: int = 0) -> list[str]:
    """Lines of an attempt, after a line that counts those dropped unseen."""
    gone = log["first"] - seen
    if gone <= 0:
        return [*log["lines"]]
    words = "1 earlier line was" if gone == 1 else f"{gone:,} earlier lines were"
    return [f"… {words} dropped", *log["lines"]]
