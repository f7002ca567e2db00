"""The server carried something out and its answer never came: asked again, nothing is twice."""

from tests.faults.lost_answers import judged

#: What the server says last when it has ended a transaction, and is between two of them.
ENDED = b"Z\x00\x00\x00\x05I"


def test_an_answer_lost_after_the_commit_has_no_second_effect(site, processes, proxy):
    judged(site, processes, proxy, 10, lambda data: data.endswith(ENDED))
