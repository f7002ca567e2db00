"""Names whose values are credentials."""

from __future__ import annotations

import re
from functools import lru_cache

_SENSITIVE = re.compile(
    r"passw|passphrase|secret|token|authori[sz]ation|authenticat|(?:^|[-_.])auth(?:$|[-_.])"
    r"|(?:api|access|private|signing)[-_]?key|cookie|certificate|credential"
    r"|sign_with|signature|bearer|session|^value$",
    re.IGNORECASE,
)


@lru_cache(maxsize=1000)
def is_sensitive(name: str) -> bool:
    """Whether the name of a field, header or parameter says that its value is a credential."""
    return _SENSITIVE.search(name) is not None
