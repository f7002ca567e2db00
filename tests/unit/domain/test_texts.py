"""The text of many entries is that of each alone."""

import json
from typing import Any

from tickwell.domain.document import document_of
from tickwell.domain.document.shared_values import texts_of
from tickwell.domain.http import Http
from tickwell.domain.job import Cursor, Entry, Job, copied
from tickwell.domain.trigger import Every


def test_entries_are_written_as_if_alone():
    first = Job(id="0", name="a", trigger=Every("1m"), target=Http("https://example.com"))
    changes: list[dict[str, Any]] = [
        {},
        {"payload": {"a": 1}},
        {"payload": 0},
        {"payload": None},
        {"name": 'ü"\\'},
        {"priority": 7},
        {"tags": ("x",)},
        # Equal, and not the same.
        {"target": Http("https://example.com", body={"a": 1})},
        {"target": Http("https://example.com", body={"a": True})},
        {"target": Http("https://example.com", body={"a": 1.0})},
    ]
    jobs = [copied(first, id=str(number), **change) for number, change in enumerate(changes)]
    entries = [Entry(job, Cursor()) for job in jobs]
    texts = texts_of(entries, document_of, json.dumps)
    alone = [json.dumps(document_of(entry), sort_keys=True) for entry in entries]
    assert [json.dumps(json.loads(text), sort_keys=True) for text in texts] == alone


def test_what_is_shared_is_written_once_as_long_as_the_cursor_is_the_same():
    first = Job(id="0", name="a", trigger=Every("1m"), target=Http("https://example.com"))
    cursors = [Cursor(after=1)] * 3 + [Cursor(after=2)] * 2
    entries = [Entry(copied(first, id=str(n)), cursor) for n, cursor in enumerate(cursors)]
    asked = []

    def document(entry):
        asked.append(entry.job.id)
        return {"id": entry.job.id, "name": entry.job.name, "after": entry.cursor.after}

    texts = texts_of(entries, document, json.dumps)
    assert [json.loads(text)["after"] for text in texts] == [1, 1, 1, 2, 2]
    assert asked == ["0", "3"]
