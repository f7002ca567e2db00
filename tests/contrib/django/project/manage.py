"""The usual program of a Django project."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.contrib.django.project.settings")
    if "VARIANT" in os.environ:
        import pytest

        from tests.variants.plugin import break_production

        break_production(pytest.MonkeyPatch())
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
