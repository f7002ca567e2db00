"""A test that cannot fail is a defect: every broken variant must be caught."""

import pytest

from tests.variants.catalog import VARIANTS
from tests.variants.variant import REPORT


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_is_caught(variant):
    assert variant.hunt() is not None, f"nothing notices: {variant.flaw}"


def test_the_report_lists_them_all():
    lines = REPORT.read_text("utf-8").splitlines()
    named = [line.split("|")[1].strip() for line in lines if line.startswith("| ")][1:]
    assert named == [variant.name for variant in VARIANTS]
    assert not any("not caught" in line for line in lines)
