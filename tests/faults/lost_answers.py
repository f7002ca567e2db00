"""A server carries something out and its answer never comes: asked again, nothing is twice."""

from tests.faults.postgres.load import add_load, judge_load
from tests.processes.child import until

SECONDS = 4


def lose_each(number, is_answer):
    """Lose every so many of the answers, with their connections."""
    count = 0

    def loses(data):
        nonlocal count
        answers = is_answer(data)
        count += answers
        return answers and count % number == 0

    return loses


def judged(site, processes, proxy, number, is_answer=lambda _: True):
    """Two processes under load, while answers are lost between them and the server."""
    agents = [processes.agent(site.orders()) for _ in range(2)]
    proxy.down.loses = lose_each(number, is_answer)
    add_load(site, SECONDS)
    # A driver repeats some reads by itself, and a busy machine asks for much at once: which lost
    # answer is the first that a service notices is not known, only that there is one.
    until(lambda: any(agent.heard("StepFailed") for agent in agents), what="a lost answer noticed")
    history = judge_load(site)
    # A lost answer costs no attempt: nobody was lost.
    assert {call.attempt for call in history.calls} == {1}
    assert len(history.calls) == site.expected
