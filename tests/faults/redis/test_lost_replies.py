"""The server carried something out and its answer never came: asked again, nothing is twice."""

from tests.faults.postgres.load import add_load, judge_load

#: How a notification begins, which is no answer.
NEWS = b"*3\r\n$7\r\nmessage"
#: Every so many answers are lost, with their connections.
EACH = 15
SECONDS = 4


def lose_each():
    count = 0

    def loses(data):
        nonlocal count
        answers = not data.startswith(NEWS)
        count += answers
        return answers and count % EACH == 0

    return loses


def test_an_answer_lost_after_the_write_has_no_second_effect(site, processes, proxy):
    # A lease that no number of lost answers outlasts.
    agents = [processes.agent(site.orders(settings={"ttl": 15.0})) for _ in range(2)]
    proxy.down.loses = lose_each()
    add_load(site, SECONDS)
    history = judge_load(site)
    assert proxy.down.lost >= 20
    failed = {line["service"] for agent in agents for line in agent.heard("StepFailed")}
    assert failed, "the lost answers hurt nobody"
    # A lost answer costs no attempt: nobody was lost.
    assert {call.attempt for call in history.calls} == {1}
    assert len(history.calls) == site.expected
