"""The written pages, as the site has them: links to other files of the repository lead to it."""

import re
import tomllib
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCE: str = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"][
    "Source"
]
#: Pages of the repository that the site has too, by their place there.
MORE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
DECISIONS = "decisions/README.md"

_FENCE = re.compile(r"^( *)```")
_LINK = re.compile(r"\]\((?!\w+:|#)([^)\s#]*)(#[^)\s]*)?\)")


def staged() -> dict[str, str]:
    """Every written page of the site by its path in it."""
    places = {f"docs/{path.relative_to(DOCS).as_posix()}": path for path in DOCS.rglob("*.md")}
    places |= {name: ROOT / name for name in MORE}
    pages = {
        page_of(name): rewritten(path.read_text("utf-8"), name, places)
        for name, path in places.items()
    }
    pages[DECISIONS] = decisions()
    return pages


def page_of(name: str) -> str:
    """The path in the site of a file of the repository."""
    return MORE.get(name) or name.removeprefix("docs/")


def decisions() -> str:
    """A list of them: a folder is no page."""
    rows = []
    for path in sorted((DOCS / "decisions").glob("0*.md")):
        title = path.read_text("utf-8").splitlines()[0].removeprefix("# ")
        number, _, text = title.partition(". ")
        rows.append(f"{number}. [{text}]({path.name})")
    return "# Decisions\n\nWhy it is built as it is, and what was measured.\n\n" + "\n".join(rows)


def rewritten(text: str, name: str, places: "dict[str, Path]") -> str:
    """A page with links as they are in the site; code is left alone."""
    lines, fence = [], None
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and fence is None:
            fence = len(mark[1])
        elif mark and len(mark[1]) == fence:
            lines.append(_indented(line, fence))
            fence = None
            continue
        if fence is None:
            lines.append(_LINK.sub(lambda found: _link(found, name, places), line))
        else:
            lines.append(_indented(line, fence))
    return "\n".join(lines) + "\n"


def _indented(line: str, fence: int) -> str:
    """Code within a list stands four spaces in, for Python-Markdown."""
    return f"{' ' * (4 - fence)}{line}" if fence and line else line


def _link(found: re.Match[str], name: str, places: "dict[str, Path]") -> str:
    target, anchor = found[1], found[2] or ""
    path = _normal(PurePosixPath(name).parent / target)
    if path == "docs/decisions":
        to = DECISIONS
    elif path in places:
        to = page_of(path)
    elif path.startswith("docs/images/"):
        to = path.removeprefix("docs/")
    else:
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"]({SOURCE}/{kind}/main/{path}{anchor})"
    depth = page_of(name).count("/")
    return f"]({'../' * depth}{to}{anchor})"


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
