"""A pytest plugin that breaks production code before tests run: -p tests.variants.plugin."""

import os

import pytest

from tests.variants.catalog import VARIANTS


def pytest_configure(config):
    name = os.environ["VARIANT"]
    patches = pytest.MonkeyPatch()
    config.add_cleanup(patches.undo)
    next(variant for variant in VARIANTS if variant.name == name).patch(patches)
