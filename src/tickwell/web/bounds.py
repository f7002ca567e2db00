"""The bounds of bodies."""

from __future__ import annotations

#: Bytes of one job, or of any other single record.
ONE = 256 * 1024
#: Bytes of a batch.
MANY = 1024 * 1024
DEEPEST = 32
MOST_KEYS = 1000
LONGEST_TEXT = 64 * 1024
