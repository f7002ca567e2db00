"""The pages of the documentation, and what can be read from them."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
#: For users: decisions are history, and history keeps its words.
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted(DOCS.glob("*.md")),
    *sorted((DOCS / "tutorials").glob("*.md")),
]
ALL_PAGES = [*PAGES, *sorted((DOCS / "decisions").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def name(path):
    return str(path.relative_to(ROOT))


def text_of(page):
    return (DOCS / f"{page}.md").read_text("utf-8")


def blocks(text, language):
    """The fenced code of one language."""
    return [code for found, code in _FENCE.findall(text) if found == language]


def prose(text):
    """A page without its fenced code."""
    return _FENCE.sub("", text)


def spans(text):
    """What stands in backticks."""
    return set(_CODE.findall(prose(text)))


def links(text):
    return _LINK.findall(prose(text))


def headings(text):
    return _HEADING.findall(prose(text))


def anchors(text):
    """As forges make them: lower case, punctuation dropped, spaces to hyphens."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings(text)
    }


def rows(text):
    """The cells of every line of every table."""
    lines = [line for line in prose(text).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
