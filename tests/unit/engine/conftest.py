"""What the engine's tests share."""

import pytest

from tests.unit.engine.rig import Rig


@pytest.fixture
async def rigs():
    """Makes rigs; whatever a test leaves behind in them may end when it is over."""
    made = []

    def make(**settings):
        made.append(Rig(**settings))
        return made[-1]

    yield make
    for rig in made:
        rig.let_go.set()
        rig.reporter.is_cut_off = lambda: True  # type: ignore[method-assign]


@pytest.fixture
async def rig(rigs):
    return rigs()
