"""What a name may hold: what can be seen, so that no two names look alike and are not."""

from __future__ import annotations

import re

_PICTURES = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
#: A joiner makes one picture of two, which is seen; anywhere else it is not.
_JOINER = re.compile(f"(?<=[{_PICTURES}\ufe0f])\u200d(?=[{_PICTURES}])")


def is_name(text: str) -> bool:
    """Whether it may be a name: short, and to be seen, as spaces alone are not."""
    return 0 < len(text) <= 255 and is_visible(text) and not text.isspace()


def is_visible(text: str) -> bool:
    """Whether all of it is printable; an emoji may be made of several."""
    return text.isprintable() or _JOINER.sub("", text).isprintable()
