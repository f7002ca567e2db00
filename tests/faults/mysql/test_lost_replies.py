"""The server carried something out and its answer never came: asked again, nothing is twice."""

from tests.faults.lost_answers import judged


def test_an_answer_lost_after_the_write_has_no_second_effect(site, processes, proxy):
    judged(site, processes, proxy, 40)
