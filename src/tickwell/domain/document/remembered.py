"""Values that many jobs share, such as a target or a retry policy: read and written once."""

from __future__ import annotations

import marshal
from typing import Any

from tickwell.domain.document.values import Value

#: Values of one kind that are remembered; then all are forgotten.
MOST = 1024
#: Bytes of a document up to which it is remembered.
LARGEST = 2048


def remembered(value: Value) -> Value:
    """The same for records that never change. What is written is shared: nobody may change it."""
    records: dict[bytes, Any] = {}
    #: By identity, which the record in it keeps from being given to another.
    documents: dict[int, tuple[Any, Any]] = {}

    def read(document: Any) -> Any:
        try:
            key = marshal.dumps(document, 2)
        except ValueError:  # nothing that JSON has
            return value.read(document)
        known = records.get(key)
        if known is not None:
            return known
        record = value.read(document)
        if len(key) <= LARGEST:
            if len(records) >= MOST:
                records.clear()
            records[key] = record
        return record

    def write(record: Any) -> Any:
        known = documents.get(id(record))
        if known is not None:
            return known[1]
        document = value.write(record)
        if len(documents) >= MOST:
            documents.clear()
        documents[id(record)] = record, document
        return document

    return Value(read, write)
