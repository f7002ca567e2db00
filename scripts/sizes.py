"""Prints the median length of the files in src and fails when one is over the limit."""

import sys
from pathlib import Path
from statistics import median

#: A file this long is looked at twice: it may be one concept, or two.
LIMIT = 500
#: In the head of a file that a script writes.
GENERATED = "# Written by scripts/"
SOURCE = Path(__file__).parent.parent / "src"


def lengths() -> dict[str, int]:
    """Lines of every Python file in src that is written by hand, by its path; not of empty ones."""
    texts = {path: path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    counts = {
        str(path.relative_to(SOURCE)): len(text.splitlines())
        for path, text in texts.items()
        if GENERATED not in text
    }
    return {name: lines for name, lines in counts.items() if lines}


def too_long() -> dict[str, int]:
    """The files over the limit."""
    return {name: lines for name, lines in lengths().items() if lines > LIMIT}


def main() -> int:
    """Print the figures; 1 when a file is too long, else 0."""
    found = lengths()
    print(f"{len(found)} files, median {median(found.values()):.0f} lines, limit {LIMIT}")
    for name, lines in too_long().items():
        print(f"src/{name}: {lines} lines; is it still one concept?")
    return 1 if too_long() else 0


if __name__ == "__main__":
    sys.exit(main())
