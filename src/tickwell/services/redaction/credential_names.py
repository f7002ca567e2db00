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

_SENSITIVE_MEMBER = re.compile(
    r"(?:passw(?:or)?d|passphrase|pwd|secret|token|signature|authori[sz]ation|bearer|credentials?"
    r"|(?:api|access|private|signing|secret)[-_]?key)$",
    re.IGNORECASE,
)


@lru_cache(maxsize=1000)
def is_sensitive(name: str) -> bool:
    """Whether the name of a field, header or parameter says that its value is a credential."""
    return _SENSITIVE.search(name) is not None


@lru_cache(maxsize=1000)
def is_sensitive_parameter(name: str) -> bool:
    """The same of a query parameter, where `key`, `sig` and `pwd` are credentials as well."""
    return name.lower() in {"key", "sig", "pwd"} or is_sensitive(name)


@lru_cache(maxsize=1000)
def is_sensitive_member(name: str) -> bool:
    """The same of a member of a JSON body, where `value`, `session` or `key` are often plain data.

    The name has to end in the word: `token_type` and `max_tokens_used` hold no credential.
    """
    return _SENSITIVE_MEMBER.search(name) is not None
