"""What the engine's tests share."""

import pytest

from tests.unit.engine.rig import Rig


@pytest.fixture
def rig():
    return Rig()
