"""The table of variants and what caught them."""

from tests.variants.catalog import VARIANTS

HEAD = """# Broken variants and what catches them

Each variant patches production code on purpose; the suite is evidence because it catches every one.
Written by `python -m tests.variants`.

| variant | what comes of it | caught by |
|---|---|---|
"""


def table(caught: dict[str, str | None]) -> str:
    rows = [f"| {v.name} | {v.flaw} | {caught[v.name] or '**not caught**'} |\n" for v in VARIANTS]
    return HEAD + "".join(rows)
