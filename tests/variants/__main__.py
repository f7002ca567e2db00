"""Hunts every variant, prints the table and keeps it: python -m tests.variants."""

import sys

from tests.variants.catalog import VARIANTS
from tests.variants.report import table
from tests.variants.variant import REPORT


def main() -> int:
    caught = {variant.name: variant.hunt() for variant in VARIANTS}
    text = table(caught)
    REPORT.write_text(text, "utf-8")
    sys.stdout.write(text)
    return 0 if all(caught.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
