"""What people type into forms."""

from __future__ import annotations

import json
from typing import Any

from tickwell.errors import InvalidInput


def json_of(text: str, field: str) -> Any:
    """JSON that somebody typed; None for nothing."""
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"is no JSON: {error}", field=field, hint='Use {"a": 1}') from None
