"""What a worker holds is bounded by bytes as well as by number."""

import pytest

from tests.unit.engine.rig import Rig
from tickwell.domain.execution import State
from tickwell.engine.claiming.lane import Lane
from tickwell.ports.records import CLAIM_BYTES

MEGABYTE = "x" * (1024 * 1024 - 2)


class Sized:
    def __init__(self, size):
        self.size = size


@pytest.fixture
def lane():
    lane = Lane("task", capacity=100, batch=500, lead=0.5)
    lane.is_cold = False
    return lane


def test_large_payloads_are_not_held_ahead_but_fill_slots(lane):
    lane.mean = 0.1
    lane.in_hand, lane.bytes = 99, CLAIM_BYTES - 1
    assert lane.room() == 500
    lane.bytes = CLAIM_BYTES
    assert lane.room() == 1
    lane.in_hand = 100
    assert lane.room() == 0


def test_as_many_are_asked_for_as_a_claim_can_bring(lane):
    lane.mean = 0.1
    lane.observe_sizes([Sized(2**20)] * 16)
    lane.observe_sizes([])
    assert lane.room() == 65  # it takes more than one claim to believe it
    for _ in range(20):
        lane.observe_sizes([Sized(2**20)] * 16)
    assert lane.room() == 33
    for _ in range(20):
        lane.observe_sizes([Sized(200)] * 33)
    assert lane.room() == 500


async def test_a_claim_that_the_bytes_ended_is_followed_by_another(rigs):
    rig = rigs(capacity=10, lead=0.5)
    job = await rig.add()
    rig.executor.hold("quick")
    for _ in range(40):
        await rig.request(job, payload=MEGABYTE)
    await rig.beat()
    assert await rig.worker.step() == 0.0
    assert await rig.running() == 16
    assert await rig.worker.step() > 0.0  # no slot is free
    assert await rig.running() == 16


async def test_a_report_carries_no_large_payload():
    rig = Rig()
    job = await rig.add()
    id = await rig.request(job, payload=MEGABYTE)
    await rig.request(job, payload="small")
    await rig.beat()
    await rig.worker.step()
    await rig.settle()
    assert [call.payload for call in rig.executor.calls] == [MEGABYTE, "small"]
    assert [claim.payload for claim in rig.reporter.unwritten()] == [None, "small"]
    assert [lane.bytes for lane in rig.worker.lanes] == [0]
    await rig.reporter.step()
    assert await rig.state(id) is State.SUCCEEDED
