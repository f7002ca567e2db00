"""A pytest plugin that breaks production code before tests run: -p tests.variants.plugin."""

import os

import pytest

from tests.variants.catalog import VARIANTS


def break_production(patches):
    """Apply the variant that the environment names; processes under test do so too."""
    name = os.environ["VARIANT"]
    next(variant for variant in VARIANTS if variant.name == name).patch(patches)


def pytest_configure(config):
    patches = pytest.MonkeyPatch()
    config.add_cleanup(patches.undo)
    break_production(patches)
